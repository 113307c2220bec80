"""Probe and its handlers (core/v1 ``Probe``, Kubernetes 1.36, plus one field of ours).

A field whose default comes from a factory is written even if empty, because Kubernetes writes it.
"""

from typing import Literal, TypeAlias

import msgspec

from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.meta import Int32, Int64, Object

ProbeType: TypeAlias = Literal["liveness", "readiness", "startup"]

# Validation and every listing use this order (core validation, 1.36).
PROBE_TYPES: tuple[ProbeType, ...] = ("liveness", "readiness", "startup")


class ExecAction(Object, frozen=True, kw_only=True):
    """Runs a command in the container without a shell."""

    command: list[str] = msgspec.field(default_factory=list)
    """Program and arguments, at least one element. Literal ``env`` entries replace ``$(NAME)``."""


class HTTPHeader(Object, frozen=True, kw_only=True):
    """One header of an HTTP probe; repeated names keep every value in order."""

    name: str = msgspec.field(default_factory=str)
    """Any capitals; ``Host`` sets the request's host."""
    value: str = msgspec.field(default_factory=str)
    """Any text that a header may have."""


class HTTPGetAction(Object, frozen=True, kw_only=True):
    """Sends a GET request; a status from 200 to 399 is healthy."""

    path: str = ""
    """Default ``/``; may carry a query."""
    port: IntOrString = msgspec.field(default_factory=int)
    """1 to 65535, or the name of one of the container's ports. Required."""
    host: str = ""
    """Default: the pod's IP."""
    scheme: str = ""
    """``HTTP`` (default) or ``HTTPS``; certificates are never verified."""
    http_headers: list[HTTPHeader] = msgspec.field(default_factory=list)
    """Sent in addition to the prober's own; one of them may replace ``User-Agent`` and ``Accept``."""
    protocol: str | None = None
    """``HTTP1`` (default) or ``HTTP2`` with prior knowledge and no TLS (KEP-5999, alpha in 1.37). Probes only."""


class TCPSocketAction(Object, frozen=True, kw_only=True):
    """Opens a TCP connection and closes it."""

    port: IntOrString = msgspec.field(default_factory=int)
    """1 to 65535, or the name of one of the container's ports. Required."""
    host: str = ""
    """Default: the pod's IP."""


class GRPCAction(Object, frozen=True, kw_only=True):
    """Calls ``grpc.health.v1.Health/Check``."""

    port: Int32 = msgspec.field(default_factory=int)
    """1 to 65535; the API allows no name here. Required."""
    service: str | None = None
    """Default: the empty service name."""
    mode: str | None = None
    """``Plaintext`` (default) or ``TLS``; certificates are never verified (KEP-4939, alpha in 1.37)."""


class Probe(Object, frozen=True, kw_only=True):
    """A probe of a container. A number that is 0 or absent gets its default; times are whole seconds."""

    exec: ExecAction | None = None
    """Exactly one of the four handlers is set."""
    http_get: HTTPGetAction | None = None
    """Exactly one of the four handlers is set."""
    tcp_socket: TCPSocketAction | None = None
    """Exactly one of the four handlers is set."""
    grpc: GRPCAction | None = None
    """Exactly one of the four handlers is set."""
    initial_delay_seconds: Int32 = 0
    """Counts from the container's ``startedAt``. Default 0."""
    timeout_seconds: Int32 = 0
    """For each attempt. Default 1."""
    period_seconds: Int32 = 0
    """Default 10."""
    success_threshold: Int32 = 0
    """Consecutive successes; must be 1 for liveness and startup. Default 1."""
    failure_threshold: Int32 = 0
    """Consecutive failures. Default 3."""
    termination_grace_period_seconds: Int64 | None = None
    """Grace period of a kill by this probe (KEP-2238); above 0, not for readiness. Default: the pod's."""
    initialization_failure_threshold: Int32 = 0
    """Failures allowed before a container's first success (KEP-950, ours). 0 means ``failureThreshold``."""

    @property
    def handler(self) -> Literal["exec", "httpGet", "tcpSocket", "grpc"] | None:
        """The handler that runs: the first one set, in the prober's order."""
        if self.exec is not None:
            return "exec"
        if self.http_get is not None:
            return "httpGet"
        if self.tcp_socket is not None:
            return "tcpSocket"
        return "grpc" if self.grpc is not None else None
