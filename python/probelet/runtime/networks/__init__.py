"""Network namespaces of pods, for probes from inside their pod (``network: pod``).

The engine enters a namespace by a path, and the runtime alone knows the path: a verbose PodSandboxStatus has the
sandbox's specification and its first process. It is asked once for each sandbox of a pod whose probes want it. The
log has one line for each sandbox that cannot be entered; the probes' ``networkFallback`` decides what follows.
"""
