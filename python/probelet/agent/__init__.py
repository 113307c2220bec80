"""Probes of pods that a kubelet runs (``probelet agent``): a guest on a kubelet's node.

The kubelet creates, starts and restarts; the agent probes what the webhook took over of a pod's probes, sets the
condition of its readiness gate, and stops a container whose own liveness or startup probe failed, or that a request is
about. Folders and laws:

- ``state``: the files in the state directory: pods as first seen, intents of kills.
- ``rules``: pure functions: what has begun, the facts for the engine, the condition, the victims.
- ``source``: which pods there are, as the API server says, each as it was first seen. Decides nothing about containers.
- ``kill``: stops a container once for one failure, with every step on disk before it happens.
- ``recreate``: carries out ContainerRecreateRequests, for any pod of the node, by kills of ``kill``.
- ``pod``: a pod and the set of all: the only place where engine, cache, rules and kills meet.
- ``enhanced``: the probes of the node's NodePodProbe, in an engine of their own; their results report, nothing more.
- ``report``: conditions and events to the API server; the latest only while it is away.
- ``show``: the status document, the metrics, and what an operator may ask for.
"""
