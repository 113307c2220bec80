"""Chooses the range of a runtime's pods: private addresses to which this machine has no route yet."""

import sys
from collections.abc import Iterable
from hashlib import blake2b
from ipaddress import IPv4Network
from pathlib import Path

ROUTES = Path("/proc/net/route")

PREFIX_LENGTH = 22
"""1,022 addresses: a bridge of Linux has 1,024 ports at most (BR_MAX_PORTS)."""

CANDIDATES = tuple(map(IPv4Network, ("10.213.0.0/16", "172.29.0.0/16", "192.168.128.0/17")))
"""Parts of the private ranges (RFC 1918) that few networks use. A machine whose routes cover one of them uses
another."""


def routes(table: Path = ROUTES) -> list[IPv4Network]:
    """The networks to which this machine has a route, without default routes. Raises OSError."""
    found = []
    for line in table.read_text().splitlines()[1:]:
        _, destination, _, _, _, _, _, mask, *_ = line.split()
        if int(mask, 16):
            packed = [int(word, 16).to_bytes(4, sys.byteorder) for word in (destination, mask)]
            found.append(IPv4Network((packed[0], int.from_bytes(packed[1], "big").bit_count())))
    return found


def choose(seed: str, taken: Iterable[IPv4Network]) -> IPv4Network:
    """A range that overlaps none of ``taken``. Raises LookupError if there is none.

    ``seed`` differs between the runtimes of a machine, so that two that start at once choose different ranges.
    """
    taken = list(taken)
    digest = int.from_bytes(blake2b(seed.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "big")
    for whole in CANDIDATES:
        parts = list(whole.subnets(new_prefix=PREFIX_LENGTH))
        for step in range(len(parts)):
            part = parts[(digest + step) % len(parts)]
            if not any(part.overlaps(other) for other in taken):
                return part
    raise LookupError(f"this machine has routes to every /{PREFIX_LENGTH} of {', '.join(map(str, CANDIDATES))}")
