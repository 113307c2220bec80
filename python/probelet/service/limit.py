"""The bounds of the service: what one caller can make it hold."""

from typing import Final

MESSAGE_BYTES_MAX: Final = 16 * 1024 * 1024
"""The largest message either way, as in CRI: a pod is at most 1.5 MiB in an API server's etcd."""

PODS_MAX: Final = 10_000
"""Pods at once. Ten times what a node is ever tried with; a caller that forgets to remove pods finds out."""

CONNECTIONS_MAX: Final = 64
"""Callers at once: a node has one agent, and a person or two who look."""

CHANGES_KEPT: Final = 10_000
"""Changes that wait for one reader of results; beyond, it is given all results again."""

RESULTS_PER_MESSAGE: Final = 10_000
"""Results of one message: about 2 MiB, well below a message's limit."""

EVENTS_KEPT: Final = 1_000
"""Events that wait for one reader, 10 MiB at most; beyond, the oldest go and are counted."""

ANSWER_SECONDS: Final = 120.0
"""What a caller may take for an exec attempt beyond the probe's own timeout, as a kubelet lets its runtime
(runtimeRequestTimeout, 1.36)."""
