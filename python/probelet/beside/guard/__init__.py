"""Enhanced liveness: whether a container whose liveness probe failed is restarted is decided for the whole cluster.

Laws

- ``objects/``: the Kubernetes objects, with only the fields that are read. Decodes, decides nothing.
- ``context/``: the annotation that holds the liveness probes of a pod, read and written byte for byte as OpenKruise.
- ``mutation``: what happens to a pod when it is created. A pure function.
- ``mapping/``: which probes the NodePodProbe of each node should have. Sans-IO.
- ``recreate/``: what becomes of a request to recreate containers: in the webhook, in the controller, on the node. Pure.
- ``restart/``: which failed probe leads to a restart, and when. Sans-IO.

``mapping`` and ``restart`` are machines: ``handle(now, input)`` returns outputs. ``now`` is in nanoseconds and never
goes back. The same inputs give the same outputs; the only randomness is a seeded generator in the state. No clock,
socket, thread or loop is used here. So the controller on an API server and the virtual cluster run the same code.
"""
