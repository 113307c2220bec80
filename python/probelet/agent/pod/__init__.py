"""A pod, and all pods of the node: they put rules, engine, cache and kills together."""
