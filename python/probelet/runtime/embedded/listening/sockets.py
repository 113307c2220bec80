"""The machine's listening TCP sockets, from /proc/net/tcp and /proc/net/tcp6."""

import sys
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import msgspec

from probelet.errors import ProbeletError

PROC_NET = Path("/proc/net")

LISTENING = b"0A"
"""TCP_LISTEN (include/net/tcp_states.h). Both files list these sockets first (Documentation/networking/proc_net_tcp.rst
of Linux), so connections cost a reader nothing."""

READ_BYTES = 256 * 1024
"""One read; a line has 150 bytes."""

Address = IPv4Address | IPv6Address


class LookTooLong(ProbeletError):
    """The machine has so many sockets or processes that a look at them passed its deadline."""


class Listener(msgspec.Struct, frozen=True):
    """One listening socket. ``inode`` identifies it; an IPv4 address within IPv6 is an IPv4 address here."""

    address: Address
    port: int
    inode: int

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if self.address.version == 6 else f"{self.address}:{self.port}"


def listeners(ports: Collection[int], deadline: float, proc_net: Path = PROC_NET) -> list[Listener]:
    """The sockets that listen on one of ``ports``. Raises LookTooLong after ``deadline`` (``time.thread_time``)."""
    found: list[Listener] = []
    for name in ("tcp", "tcp6"):
        # A machine without IPv6 has no tcp6.
        with suppress(FileNotFoundError), (proc_net / name).open("rb", READ_BYTES) as table:
            next(table, None)
            found += _rows(table, ports, deadline)
    return found


def _rows(table: Iterator[bytes], ports: Collection[int], deadline: float) -> Iterator[Listener]:
    for number, line in enumerate(table):
        _, local, _, state, _, _, _, _, _, inode, *_ = line.split(None, 10)
        if state != LISTENING:
            return
        address, _, port = local.partition(b":")
        if int(port, 16) in ports:
            yield Listener(_address(address.decode()), int(port, 16), int(inode))
        if number % 1024 == 0 and time.thread_time() > deadline:
            raise LookTooLong


def _address(digits: str) -> Address:
    """The address of its hexadecimal digits: 32-bit words, each in the byte order of this machine."""
    words = (int(digits[at : at + 8], 16) for at in range(0, len(digits), 8))
    packed = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
    if len(packed) == 4:
        return IPv4Address(packed)
    address = IPv6Address(packed)
    return address.ipv4_mapped or address
