"""``--isolate namespace``: each pod has a network namespace, joined to this machine by a veth pair and a bridge.

The bridge has the first address of a small private range, the pods have the others. A namespace lives as long as the
runtime holds its descriptor or a process is in it; its end takes the pair with it. So only the bridge can outlive a
runtime that was killed together with its guard, and the next one on the same root removes it.

ip(8) makes the interfaces of a namespace
-----------------------------------------
``--isolate namespace`` needs four calls of netlink for each pod and three for the bridge. The program ip is on every
machine whose root has a use for namespaces, and says what went wrong in words that administrators know. pyroute2
would be the largest dependency for it, and own netlink messages a hundred lines with no other use. A namespace has no
name and no file: the runtime holds its descriptor, so the kernel removes it, and the veth pair with it, however the
runtime ends. Programs start in it because the runtime's own thread enters it for the moment of the start
(``isolation/namespace``).
"""
