"""How a look crosses the CRI: an annotation of containers, and an entry of ``info`` in a verbose Status answer.

The CRI has no call for it. Its ``info`` map is meant for what a runtime adds of its own, and one answer
covers every pod.
"""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

PROBED_PORTS: Final = "probelet.dev/probed-ports"
"""The annotation of a container with the ports of its pod's address that its probes ask: ``8080,9090``."""

FOREIGN_LISTENERS: Final = "foreignListeners"
"""The key of ``info``. Its value is JSON: for each ``address:port`` that has one, its foreign listener."""


class ForeignListener(msgspec.Struct, frozen=True):
    """A listener that answers in place of a pod. Its owner is a container, or a program outside of the pods."""

    listener: str
    """The socket's own address: ``0.0.0.0:8080``."""
    pod: str = ""
    """``namespace/name`` of the owner; empty for a program outside of the pods."""
    container: str = ""
    pid: int = 0
    """A process that holds the socket; 0 if none was found."""
    program: str = ""
    """The name of that process, 15 bytes at most, which the program itself chooses."""


def ports_text(ports: Collection[int]) -> str:
    """The value of the annotation."""
    return ",".join(map(str, sorted(ports)))


def ports_in(annotations: Mapping[str, str]) -> list[int]:
    """The ports of the annotation; none if it is missing or unreadable."""
    parts = annotations.get(PROBED_PORTS, "").split(",")
    return [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) <= 5]


def encode(found: Mapping[str, ForeignListener]) -> str:
    """The value in ``info``."""
    return msgspec.json.encode(found).decode()


def decode(text: str) -> dict[str, ForeignListener]:
    """Reads the value in ``info``. Raises ``msgspec.MsgspecError``."""
    return msgspec.json.decode(text, type=dict[str, ForeignListener])
