"""Enhanced liveness on a node: makes the probes of the node's NodePodProbe, and writes what they find into its status.

Laws:

1. Results report. Nothing in this folder stops a container; the cluster decides (``probelet.beside.guard.restart``).
2. Each probe is a pod of its own in an engine with ``semantics="enhanced"`` (``beside/probes/engine_pod.py``). So probes
   of one container are independent, and a probe that changes begins anew without the others.
3. No probe in that engine names a host. The facts say where it goes: to the address of its pod's own sandbox.
4. Lack of data changes no published state: a probe that has not decided about a container leaves what was published
   about the same container.
5. The API server gets the latest states and nothing else, and only those of probes that are in the spec.

``rules`` are pure: what is wanted, what the engine gets, what a state is, when it is published, how it is merged.
"""
