"""The limits of the service: how much it takes from callers, and holds for them."""

from typing import Final

MESSAGE_BYTES_MAX: Final = 16 * 1024 * 1024
"""The largest message, in both directions, as in CRI."""

OBJECT_BYTES_MAX: Final = 3 * 1024 * 1024
"""The largest pod or status: an API server reads no larger request (MaxRequestBodyBytes, 1.36), and etcd keeps half."""

NAME_BYTES_MAX: Final = 512
"""The longest UID, name, container ID or address. The longest name of an API server has 253 bytes. Results repeat the
UID and the container ID, so 10,000 of them have to fit into a message."""

CONTAINERS_MAX: Final = 256
"""Containers of one pod or status. Some steps of the engine compare each container of a pod with each other one."""

EXPANDED_BYTES_MAX: Final = 1024 * 1024
"""Bytes of a pod's exec commands once ``$(VAR)`` is expanded; the engine refuses a pod with more."""

PODS_MAX: Final = 10_000
"""Pods at once: ten times the largest node that is ever tried. A caller that forgets to remove pods is refused more."""

HELD_BYTES_MAX: Final = 512 * 1024 * 1024
"""Bytes of all pods and statuses together: 50 KiB for each of the largest number of pods."""

HELD_CONTAINERS_MAX: Final = 100_000
"""Containers of all pods and statuses together: each costs memory beyond the bytes of its name."""

DESIRED_MAX: Final = 100_000
"""UIDs in one CleanupPods: ten times the pods that can be known."""

CONNECTIONS_MAX: Final = 64
"""Connections at once: a node has one agent, and one or two people look at it."""

PROCESS_SHARE: Final = 4
"""One process may have a quarter of the connections, so that it cannot keep all others out, and at least two."""

PROCESS_CONNECTIONS_MIN: Final = 2

BACKLOG: Final = 100
"""Connections that wait in the kernel to be accepted."""

ACCEPT_PAUSE_SECONDS: Final = 1.0
"""How long no connection is accepted after the system had no descriptor or memory for one. Without the pause the loop
would do nothing else."""

CALLS_MAX: Final = 32
"""Calls at once on one connection, streams included. A client waits with further calls until one ends."""

NODE_CALLS_MAX: Final = 256
"""Calls at once on all connections together: each may hold a message of the largest size."""

READERS_MAX: Final = 128
"""Streams of results, of events, and of exec attempts: each kind has this many."""

HANDSHAKE_SECONDS: Final = 10.0
"""How long a connection may take until it speaks HTTP/2. Later it is closed."""

DETAIL_BYTES_MAX: Final = 2048
"""The longest message of a refusal. It is sent as metadata, where a byte takes up to three and 8 KiB are the limit."""

CHANGES_KEPT: Final = 10_000
"""Changes that wait for one reader of results; with more, the reader gets all results again."""

RESULTS_PER_MESSAGE: Final = 10_000
"""Results in one message: about 2 MiB, well below the limit of a message."""

EVENTS_KEPT: Final = 1_000
"""Events that wait for one reader, 10 MiB at most; with more, the oldest are dropped and counted."""

ANSWER_SECONDS: Final = 120.0
"""How long a caller may take for an exec attempt beyond the probe's own timeout, as long as a kubelet waits for its
runtime (runtimeRequestTimeout, 1.36)."""
