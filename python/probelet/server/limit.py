"""The limits of the servers that other processes connect to: the HTTP pages and the control socket."""

from typing import Final

PAGES_CONNECTIONS_MAX: Final = 256
"""Connections to the pages: far more than the scrapers and browsers of a node. Each takes a descriptor."""

CONTROL_CONNECTIONS_MAX: Final = 64
"""Connections to the control socket: command lines of one user, 32 of which may follow the events."""

PEER_SHARE: Final = 4
"""One address of another machine gets at most this part of the connections, so that it cannot take them all."""

HISTORY_MAX: Final = 64
"""Attempts that a status document may have of each probe: as many as the engine keeps (rust/play/src/history)."""

ACCEPTED_AT_ONCE: Final = 8
"""Connections accepted in one turn of the event loop. Those have sent their request before the next ones displace
them."""

BACKLOG: Final = 128
"""Connections that wait in the kernel for the loop. Enough for every scraper and browser of a node at once."""

ACCEPT_PAUSE_SECONDS: Final = 1.0
"""How long nothing is accepted after the system had no descriptor or memory for a connection. Without the pause the
loop would do nothing else."""

HANDSHAKE_SECONDS: Final = 5.0
"""Time for a TLS handshake, which is two round trips and a signature."""

REQUEST_SECONDS: Final = 10.0
"""Time for a request to arrive, from the connection's or the request's first byte. A slow link needs a second."""

ANSWER_SECONDS: Final = 30.0
"""Time to make an answer and for the reader to take it. The largest page has ten megabytes."""

IDLE_SECONDS: Final = 75.0
"""Time between two requests on one connection; scrapers ask every minute at most."""

REQUEST_BYTES_MAX: Final = 32 * 1024
"""Bytes of the requests that wait for an answer. A browser's request has one kilobyte, and none has a body."""

SWEEP_SECONDS: Final = 1.0
"""How often connections are checked against their times."""

PIECE_BYTES: Final = 64 * 1024
"""Bytes of an answer given to the system at once. A reader that does not read holds no more of a copy."""

PIECE_SECONDS: Final = 0.005
"""How long a document is built before the event loop does something else: as long as two calls of a runtime take."""
