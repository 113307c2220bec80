"""Enhanced liveness on a node: makes the probes of the node's NodePodProbe, and writes what they find into its status.

Laws:

1. Results report. Nothing in this folder stops a container; the cluster decides (``probelet.beside.guard.restart``).
2. Each probe is a pod of its own in an engine with ``semantics="enhanced"`` (``beside/probes/engine_pod.py``). So
   probes of one container are independent, and a probe that changes begins anew without the others.
3. No probe in that engine names a host. The facts say where it goes: to the address of its pod's own sandbox.
4. A probe does in a container what the annotation of its pod asks for, and nothing else, unless OpenKruise is there.
5. Lack of data changes no published state: a probe that has not decided about a container leaves what was published
   about the same container.
6. The API server gets the latest states and nothing else, and only those of probes that are in the spec.

``probelet.beside.probes`` is pure: what is wanted, what the engine gets, what a state is, when it is published, how it
is merged.

Enhanced liveness has an engine of its own on the node
------------------------------------------------------
The prober of a NodePodProbe differs from a kubelet's in five behaviours, which are fields of ``Semantics``
(``Semantics::ENHANCED``): no code asks whether a prober is an enhanced one. An engine has one ``Semantics``, so the
agent has a second engine (``agent/enhanced``), made when the node's object first has a probe; a node without enhanced
liveness pays for one watch of one object.

Each probe of the object is a pod of its own in that engine, and its container's ID there ends in the probe's number.
The engine keys results by container ID, and one worker per container and type; so two probes of one container would
be one. It also lets one probe begin anew while the others go on, and an attempt in flight of an old probe cannot
count for the new one. The price is a few hundred bytes for each probe. ``beside/probes/engine_pod.py`` adds the
number and takes it off again.

Probes in that engine have no host. The facts say where to dial, so a mistake in a check cannot send a request
elsewhere: the object has no admission webhook, and a request that the agent makes comes from the node
(CVE-2026-24005).

Nothing about these probes is on disk. After a restart the object itself says what was published, and a state whose
``lastTransitionTime`` is not before the container's start is about this container (the restart decision's own rule,
R-5): it stays until a threshold is reached. A write merges into the object as last read and is repeated after a
conflict, because the mapping writes the same object; the merge is a pure function of the object and of the present
states.
"""
