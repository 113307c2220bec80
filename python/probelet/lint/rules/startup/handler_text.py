"""A probe's handler as a fix writes it."""

from typing import Final

import msgspec

from probelet.lint.fix.change import Plain
from probelet.lint.world.probe import LintProbe
from probelet.spec.model.probe import Probe

_DEFAULTS: Final[tuple[tuple[str, str], ...]] = (("scheme", "HTTP"), ("path", "/"), ("service", ""))


def handler_text(probe: LintProbe) -> dict[str, Plain]:
    """The handler's field with its value, without what is the default anyway."""
    spec = probe.spec
    bare = Probe(exec=spec.exec, http_get=spec.http_get, tcp_socket=spec.tcp_socket, grpc=spec.grpc)
    found: dict[str, Plain] = msgspec.to_builtins(bare)
    for value in found.values():
        assert isinstance(value, dict)
        for name, default in _DEFAULTS:
            if value.get(name) == default:
                del value[name]
        if not value.get("httpHeaders", True):
            del value["httpHeaders"]
    return found
