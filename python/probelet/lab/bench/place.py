"""The addresses that the workers of a benchmark probe."""

import ipaddress
from dataclasses import dataclass

from probelet.errors import ProbeletError


class PlaceError(ProbeletError, ValueError):
    """The text is no place; the message names the wanted form."""


@dataclass(frozen=True)
class Place:
    """``ADDRESS[/BITS]:PORT``: worker n probes the n-th address, from ADDRESS to the end of its network."""

    first: ipaddress.IPv4Address
    addresses: int
    port: int

    def address(self, worker: int) -> str:
        """The address of a worker; after the last address the first one follows."""
        return str(self.first + worker % self.addresses)

    @classmethod
    def parse(cls, text: str) -> "Place":
        """Parses a place. Raises ``PlaceError``, one line."""
        host, _, port = text.rpartition(":")
        if not port.isascii() or not port.isdecimal() or not 1 <= int(port[:6]) <= 65535:
            raise PlaceError(f'"{text}": want HOST:PORT, with a port from 1 to 65535')
        try:
            interface = ipaddress.IPv4Interface("127.0.0.1" if host == "localhost" else host)
        except ValueError:
            raise PlaceError(f'"{text}": the host must be an IPv4 address, or a network such as 127.1.0.0/9') from None
        last = interface.network.broadcast_address
        return cls(interface.ip, int(last) - int(interface.ip) + 1, int(port))


@dataclass(frozen=True)
class Faulty:
    """``ADDRESS[/BITS]:PORT=PERCENT``: this share of the workers probes this place instead, and should fail."""

    place: Place
    percent: int

    def has(self, worker: int) -> bool:
        return worker % 100 < self.percent

    @classmethod
    def parse(cls, text: str) -> "Faulty":
        """Parses a faulty place. Raises ``PlaceError``, one line."""
        place, _, percent = text.rpartition("=")
        if not percent.isascii() or not percent.isdecimal() or int(percent[:4]) > 100:
            raise PlaceError(f'"{text}": want HOST:PORT=PERCENT, with 0 to 100 percent')
        return cls(Place.parse(place), int(percent))
