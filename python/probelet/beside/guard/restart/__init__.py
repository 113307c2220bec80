"""Whether a failed probe leads to a restart, and when.

The decision controller of the proposal was never written upstream; the order of the checks is that of
docs/cluster/enhanced-liveness.md. ``guard`` is the machine, ``judgement`` the order of the checks, ``state`` what they
read.
"""
