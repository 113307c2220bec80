"""Accepts connections: only so many in all and for one peer, and none for long that asks nothing.

Anybody on the machine can open connections to a port and hold them, and each takes one of the prober's descriptors. So
a full server closes the connection that has waited longest without a request in favour of a new one: a reader that asks
at once gets in among any number of idle ones.
"""

import asyncio
import errno
import ipaddress
import socket
import ssl
from collections.abc import Callable
from typing import Any, Final

import msgspec

from probelet.server.connection import Connection
from probelet.server.limit import (
    ACCEPT_PAUSE_SECONDS,
    ACCEPTED_AT_ONCE,
    HANDSHAKE_SECONDS,
    PEER_SHARE,
    REQUEST_BYTES_MAX,
    SWEEP_SECONDS,
)
from probelet.server.refusals import Refusals

# The system, not the connection, is the reason.
_LACKING: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Room(msgspec.Struct, frozen=True):
    """How many connections there may be, and how many bytes the requests that one of them sends ahead."""

    connections: int
    per_peer: int
    request_bytes: int = REQUEST_BYTES_MAX

    @classmethod
    def of_pages(cls, connections: int, *, is_remote: bool) -> "Room":
        """The room of pages; if other machines reach them, each gets a share."""
        return cls(connections, max(1, connections // PEER_SHARE) if is_remote else connections)


class Acceptor:
    """The connections of one listening socket, which it then owns. ``protocol`` makes the HTTP side of one; it begins
    after a handshake if there is ``tls``."""

    def __init__(
        self,
        sock: socket.socket,
        room: Room,
        protocol: Callable[[], asyncio.Protocol],
        refusals: Refusals,
        now: Callable[[], float] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.connections: set[Connection] = set()
        """The connections, those included that are being set up."""
        self._sock = sock
        self._room = room
        self._protocol = protocol
        self._refusals = refusals
        self._loop = asyncio.get_running_loop()
        self._now = now or self._loop.time
        self._tls = tls
        self._setting_up: set[asyncio.Task[Any]] = set()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def start(self) -> None:
        """Accepts from now on."""
        self._loop.add_reader(self._sock, self.accept)
        self._sweep()

    def close(self) -> None:
        """Accepts no more. Present connections stay."""
        for timer in self._timers.values():
            timer.cancel()
        if self._sock.fileno() >= 0:
            self._loop.remove_reader(self._sock)
            self._sock.close()

    def abort(self) -> None:
        """Closes all connections at once."""
        for connection in list(self.connections):
            connection.abort()

    def of(self, transport: asyncio.BaseTransport | None) -> Connection | None:
        """The connection of a transport; None if it is gone."""
        return next((found for found in self.connections if found.transport is transport), None)

    def accept(self) -> None:
        """Accepts connections that wait, a few at a time."""
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                sock, address = self._sock.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno in _LACKING:
                    self._pause(error)
                    return
                # The peer has left before it was accepted.
                continue
            self._admit(sock, peer_of(address))

    def _pause(self, error: OSError) -> None:
        self._refusals.record("accept", error=error.strerror)
        self._loop.remove_reader(self._sock)
        self._timers["accept"] = self._loop.call_later(
            ACCEPT_PAUSE_SECONDS, self._loop.add_reader, self._sock, self.accept
        )

    def _admit(self, sock: socket.socket, peer: str) -> None:
        if not self._make_room(peer):
            sock.close()
            return
        sock.setblocking(False)
        connection = Connection(
            self._protocol(), peer, self._now, self.connections.discard, request_bytes=self._room.request_bytes
        )
        connection.too_large = lambda: self._refusals.record("size", peer=peer)
        self.connections.add(connection)
        task = self._loop.create_task(self._set_up(connection, sock))
        self._setting_up.add(task)
        task.add_done_callback(self._setting_up.discard)

    async def _set_up(self, connection: Connection, sock: socket.socket) -> None:
        limit = None
        if self._tls is not None:
            limit, task = HANDSHAKE_SECONDS, asyncio.current_task()
            assert task is not None, "a task runs this"
            connection.give_up = task.cancel
        try:
            await self._loop.connect_accepted_socket(
                lambda: connection, sock, ssl=self._tls, ssl_handshake_timeout=limit, ssl_shutdown_timeout=limit
            )
        except asyncio.CancelledError:
            self.connections.discard(connection)
            raise
        except ssl.SSLError as error:
            self.connections.discard(connection)
            self._refusals.record("handshake", peer=connection.peer, error=error.reason)
        except OSError as error:
            self.connections.discard(connection)
            sock.close()
            why = error.strerror or str(error) or type(error).__name__
            self._refusals.record("accept" if self._tls is None else "handshake", error=why)

    def _make_room(self, peer: str) -> bool:
        """True if there is room for a connection of ``peer``, also because another one was closed for it."""
        rivals = [found for found in self.connections if found.peer == peer]
        if len(rivals) < self._room.per_peer:
            if len(self.connections) < self._room.connections:
                return True
            rivals = list(self.connections)
        waiting = [found for found in rivals if not found.is_answering]
        if not waiting:
            self._refusals.record("connections", peer=peer)
            return False
        oldest = min(waiting, key=lambda found: found.since)
        if not oldest.is_quiet:
            self._refusals.record("displaced", peer=oldest.peer)
        self._end(oldest)
        return True

    def _sweep(self) -> None:
        self.expire(self._now())
        self._timers["sweep"] = self._loop.call_later(SWEEP_SECONDS, self._sweep)

    def expire(self, now: float) -> None:
        """Closes the connections whose time is over."""
        for connection in list(self.connections):
            why = connection.why_late(now)
            if why is not None:
                if not connection.is_quiet:
                    self._refusals.record(why, peer=connection.peer)
                self._end(connection)

    def _end(self, connection: Connection) -> None:
        self.connections.discard(connection)
        connection.abort()


def peer_of(address: Any) -> str:
    """The peer of a connection: all of loopback is one, and so is a network of IPv6 addresses (/64), because one
    machine has as many of these addresses as it likes. A unix socket has no address."""
    if not isinstance(address, tuple):
        return "local"
    ip = ipaddress.ip_address(address[0].partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if ip.is_loopback:
        return "loopback"
    return str(ip) if ip.version == 4 else str(ipaddress.ip_network((ip, 64), strict=False))
