"""``--isolate namespace``: each pod has a network namespace, joined to this machine by a veth pair and a bridge.

The bridge has the first address of a small private range, the pods have the others. A namespace lives as long as the
runtime holds its descriptor or a process is in it; its end takes the pair with it. So only the bridge can outlive a
runtime that was killed together with its guard, and the next one on the same root removes it.
"""
