"""ContainerRecreateRequests: how each is validated, managed and carried out, as OpenKruise does it (kruise 1.9.0).

Pure functions: objects, the node's view and ages go in, what to write or to kill next comes out. The webhook, the
controller and the agent carry it out. Phases, messages and labels are OpenKruise's to the letter, because tools read
them.
"""
