"""The limits of the service: how much it holds for callers."""

from typing import Final

MESSAGE_BYTES_MAX: Final = 16 * 1024 * 1024
"""The largest message, in both directions, as in CRI: a pod is at most 1.5 MiB in an API server's etcd."""

PODS_MAX: Final = 10_000
"""Pods at once: ten times the largest node that is ever tried. A caller that forgets to remove pods is refused more."""

CONNECTIONS_MAX: Final = 64
"""Connections at once: a node has one agent, and one or two people look at it."""

CHANGES_KEPT: Final = 10_000
"""Changes that wait for one reader of results; with more, the reader gets all results again."""

RESULTS_PER_MESSAGE: Final = 10_000
"""Results in one message: about 2 MiB, well below the limit of a message."""

EVENTS_KEPT: Final = 1_000
"""Events that wait for one reader, 10 MiB at most; with more, the oldest are dropped and counted."""

ANSWER_SECONDS: Final = 120.0
"""How long a caller may take for an exec attempt beyond the probe's own timeout, as long as a kubelet waits for its
runtime (runtimeRequestTimeout, 1.36)."""
