"""Network namespaces of pods, for probes from inside their pod (``network: pod``).

The engine enters a namespace by a path, and the runtime alone knows the path: a verbose PodSandboxStatus has the
sandbox's specification and its first process. It is asked once for each sandbox of a pod whose probes want it. What
cannot be entered is said once, and the probes' ``networkFallback`` says what follows.
"""
