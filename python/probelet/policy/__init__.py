"""Decides what follows from a result: which containers to kill, with which grace, and which to start again.

Sans-IO: ``PodMachine.handle(now, input, probes) -> actions``. Nothing here talks to a runtime, a socket or a clock; the
functions mirror the kubelet's kuberuntime and pod workers (1.36), each citing where.

Each folder has one law, and imports only folders below it (held by an import contract)
 - ``machine``: one pod's life; takes inputs and returns actions.
 - ``start``, ``kill``: how one container gets started, with its image and its hook, and how it ends within its grace.
 - ``strands``: how things that are under way for one pod at the same time wait for each other.
 - ``sync``: what one sync has to do, as pure functions of a snapshot.
 - ``protocol``: the inputs, the actions and the effects, which a driver of the machine knows.
 - ``status``: what the API would show of a pod.
 - ``node``: what all pods of a node share: the gate in front of every restart, and restarts for age.
 - ``rules``: what a pod's specification says about restarts and graces.
 - ``facts``: what the runtime and the prober report.
 - ``incidents``: what the failures of many probes have in common. It knows nothing of the others.
"""
