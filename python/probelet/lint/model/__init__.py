"""The model that a rule sees: a workload with its containers and probes, and the objects beside it."""
