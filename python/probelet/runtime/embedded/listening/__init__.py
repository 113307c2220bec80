"""Which program answers at a pod's address: the machine's listening sockets and the processes that hold them.

Who answers is found out when it is in doubt
--------------------------------------------
On the embedded runtime pods share the machine's network, so a server on 0.0.0.0 answers for every pod that does not
listen itself. A connection does not tell which process took it, and a look at the machine's sockets and processes for
every probe would cost a hundred times the probe. So the engine keeps a set of addresses in doubt (``live/suspects``),
without any idea of pods: the node puts a pod's probed ports there before each start of a container, and an attempt
that is answered at one of them waits, after its own time has ended, for a word from the node. ``own`` takes the
address out of the set; ``foreign`` makes the attempt a refused connection, and the address stays. A list of ports to
refuse would have been simpler, but wrong between two looks: it would refuse a pod that has begun to listen, and pass
an answer that came before the first look. While the set is empty, an attempt pays one load for it.

Only the runtime knows which process is in which container. CRI has no call for that; so the node asks for a verbose
Status, whose ``info`` map is meant for what a runtime adds of its own: one answer covers all pods, and is empty in
the usual case. An annotation of each container (``probelet.dev/probed-ports``) tells the runtime which ports matter,
so that it reads descriptors of processes only if a foreign listener is possible at all.
"""
