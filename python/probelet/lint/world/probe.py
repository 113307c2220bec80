"""A probe as a rule sees it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from probelet.lab.explain.bounds import Bounds, Timing
from probelet.lint.fix.change import Fix
from probelet.lint.observed.container import ObservedProbe
from probelet.lint.rule import Hit
from probelet.lint.severity import Confidence, Severity
from probelet.spec.model.int_or_string import IntOrString, parse_int_or_string
from probelet.spec.model.probe import Probe, ProbeType

if TYPE_CHECKING:
    from probelet.lint.world.container import LintContainer


@dataclass(frozen=True, eq=False)
class LintProbe:
    """One probe of a container."""

    type: ProbeType
    spec: Probe
    """With its defaults. Times are whole seconds."""
    written: frozenset[str]
    """The names of the fields in the text, as the text has them: ``timeoutSeconds``, ``httpGet``."""
    path: str
    """From the object's root: ``spec.template.spec.containers[0].livenessProbe``."""
    container: "LintContainer"
    memo: dict[object, Any] = field(default_factory=dict)
    """What several rules ask of the probe, by the function that knows it."""

    @cached_property
    def timing(self) -> Timing:
        """The fields that are times and thresholds."""
        return Timing.of(self.spec)

    @property
    def bounds(self) -> Bounds:
        """From when to when its decisions fall, in seconds; the simulator proves them."""
        return self.container.bounds[self.type]

    @cached_property
    def handler(self) -> Literal["exec", "httpGet", "tcpSocket", "grpc"] | None:
        """The handler that runs."""
        return self.spec.handler

    @property
    def argv(self) -> list[str]:
        """The command of an exec probe; empty for any other."""
        return self.spec.exec.command if self.spec.exec is not None else []

    @property
    def port(self) -> IntOrString | None:
        """The port as written, a number or a name; None for an exec probe."""
        match self.handler:
            case "httpGet":
                return self.spec.http_get.port if self.spec.http_get is not None else None
            case "tcpSocket":
                return self.spec.tcp_socket.port if self.spec.tcp_socket is not None else None
            case "grpc":
                return self.spec.grpc.port if self.spec.grpc is not None else None
            case _:
                return None

    @cached_property
    def port_number(self) -> int | None:
        """The port that the prober connects to; None for an exec probe, and for a name that no port has."""
        port = parse_int_or_string(self.port) if isinstance(self.port, str) else self.port
        if not isinstance(port, str):
            return port
        return next((entry.container_port for entry in self.container.spec.ports if entry.name == port), None)

    @property
    def host(self) -> str:
        """The host that replaces the pod's address; empty if none does."""
        if self.handler == "httpGet" and self.spec.http_get is not None:
            return self.spec.http_get.host
        return self.spec.tcp_socket.host if self.handler == "tcpSocket" and self.spec.tcp_socket is not None else ""

    @property
    def observed(self) -> list[ObservedProbe]:
        """What was seen of this probe, in one row for each pod; empty without ``--observed``."""
        return [row.probes[self.type] for row in self.container.observed if self.type in row.probes]

    def is_written(self, field: str) -> bool:
        """True if the text has this field, such as ``timeoutSeconds``."""
        return field in self.written

    def hit(
        self,
        field: str,
        message: str,
        *,
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        fix: Fix | None = None,
    ) -> Hit:
        """A hit at a field of the probe, such as ``timeoutSeconds`` or ``httpGet.path``; empty for the probe itself."""
        return Hit(f"{self.path}.{field}".rstrip("."), self.container.of(message), severity, confidence or None, fix)
