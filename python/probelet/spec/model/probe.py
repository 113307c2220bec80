"""Probe and its handlers (core/v1 ``Probe``, Kubernetes 1.36, and one field of ours).

A field whose default comes from a factory is written even when empty, as Kubernetes does for those few.
"""

from typing import Literal, TypeAlias

import msgspec

from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.meta import Int32, Int64, Object

ProbeType: TypeAlias = Literal["liveness", "readiness", "startup"]

# The order in which probes of a container are validated and listed everywhere (core validation, 1.36).
PROBE_TYPES: tuple[ProbeType, ...] = ("liveness", "readiness", "startup")


class ExecAction(Object, frozen=True, kw_only=True):
    """Run a command in the container; no shell is involved."""

    command: list[str] = msgspec.field(default_factory=list)
    """Program and arguments, at least one element. ``$(NAME)`` is expanded from literal ``env`` entries."""


class HTTPHeader(Object, frozen=True, kw_only=True):
    """One header of an HTTP probe; repeated names keep every value in order."""

    name: str = msgspec.field(default_factory=str)
    value: str = msgspec.field(default_factory=str)


class HTTPGetAction(Object, frozen=True, kw_only=True):
    """GET a URL; 200 to 399 is healthy."""

    path: str = ""
    """Default ``/``; may carry a query."""
    port: IntOrString = msgspec.field(default_factory=int)
    """1 to 65535, or the name of one of the container's ports. Required."""
    host: str = ""
    """Default: the pod's IP."""
    scheme: str = ""
    """``HTTP`` (default) or ``HTTPS``; certificates are never verified."""
    http_headers: list[HTTPHeader] = msgspec.field(default_factory=list)
    protocol: str | None = None
    """``HTTP1`` (default) or ``HTTP2``: without TLS and without asking first (KEP-5999, alpha in 1.37). Probes only."""


class TCPSocketAction(Object, frozen=True, kw_only=True):
    """Open a TCP connection and close it."""

    port: IntOrString = msgspec.field(default_factory=int)
    host: str = ""


class GRPCAction(Object, frozen=True, kw_only=True):
    """Ask ``grpc.health.v1.Health/Check``."""

    port: Int32 = msgspec.field(default_factory=int)
    """1 to 65535; a name is not allowed here."""
    service: str | None = None
    """Default: the empty service name."""
    mode: str | None = None
    """``Plaintext`` (default) or ``TLS``; certificates are never verified (KEP-4939, alpha in 1.37)."""


class Probe(Object, frozen=True, kw_only=True):
    """A probe of a container. A number that is 0 or absent becomes its default; seconds are whole seconds."""

    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    grpc: GRPCAction | None = None
    initial_delay_seconds: Int32 = 0
    """Since the container's ``startedAt``. Default 0."""
    timeout_seconds: Int32 = 0
    """Per attempt. Default 1."""
    period_seconds: Int32 = 0
    """Default 10."""
    success_threshold: Int32 = 0
    """Consecutive successes; must be 1 for liveness and startup. Default 1."""
    failure_threshold: Int32 = 0
    """Consecutive failures. Default 3."""
    termination_grace_period_seconds: Int64 | None = None
    """Grace of a kill by this probe (KEP-2238); above 0, not for readiness. Default: the pod's."""
    initialization_failure_threshold: Int32 = 0
    """Failures allowed before the first success of a container (KEP-950, ours). 0: as ``failureThreshold``."""

    @property
    def handler(self) -> Literal["exec", "httpGet", "tcpSocket", "grpc"] | None:
        """The handler that runs: the first one present, in the prober's own order."""
        if self.exec is not None:
            return "exec"
        if self.http_get is not None:
            return "httpGet"
        if self.tcp_socket is not None:
            return "tcpSocket"
        return "grpc" if self.grpc is not None else None
