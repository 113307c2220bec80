"""Families of causes: causes that one fault gives to different probes."""

from typing import Final, Literal

Family = Literal["timeout", "connection", "status", "prober", "exit"]

EXITED: Final = "exited"
"""Stands for a container that ended by itself; it is no cause of an attempt."""

_CAUSES: Final[dict[Family, tuple[str, ...]]] = {
    "timeout": ("body", "connect_timeout", "exec_timeout", "header_timeout"),
    "connection": ("dns", "eof", "refused", "reset", "tls", "unreachable"),
    "status": ("exec_exit", "grpc_status", "http2", "malformed", "redirect", "status"),
    "prober": ("cri", "port", "request", "starved"),
    "exit": (EXITED,),
}

_FAMILIES: Final[dict[str, Family]] = {cause: family for family, causes in _CAUSES.items() for cause in causes}

CONNECTION_LEVEL: Final = frozenset({"connect_timeout", *_CAUSES["connection"]})
"""Causes that the network gives, and no program that answers."""


def family_of(cause: str) -> Family:
    """The family of a cause; one that this release does not know counts as an answer that says no."""
    return _FAMILIES.get(cause, "status")
