"""A hostile target, the attempt against it, and the outcome that the attempt must have."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from probelet import _rust

USER_AGENT = "kube-probe/1.36"
# The timeout of an attempt that only its timeout ends: a busy machine, too, gets as far as the target lets it.
TIMEOUT_SECONDS = 2
# The timeout of an attempt that the target or one of our limits ends: the size of a flood ends it, not its duration.
FLOOD_SECONDS = 60
# No output and no error is longer (kubelet pkg/probe/http/http.go:maxRespBodyLength, 1.36).
TEXT_BYTES_MAX = 10_240


@dataclass(frozen=True)
class Case:
    """One target, the attempt against it, and its expected outcome."""

    behaviour: str
    outcome: str
    cause: str
    says: str = ""
    """Part of the output or of the error."""
    handler: str = "httpGet"
    """``httpGet``, ``https`` (httpGet with that scheme), ``tcpSocket`` or ``grpc``."""
    path: str = "/"
    runs_out: bool = False
    """True if the timeout ends the attempt."""
    other_cause: str = ""
    """Also right: an attempt that connects again and again may be at any step when its timeout ends it."""

    @property
    def timeout_seconds(self) -> int:
        return TIMEOUT_SECONDS if self.runs_out else FLOOD_SECONDS

    def __str__(self) -> str:
        return self.behaviour if self.handler == "httpGet" else f"{self.handler}-{self.behaviour}"


def handler(kind: str, port: int, path: str = "/") -> dict[str, Any]:
    """The handler of a probe as in a v1.Probe."""
    match kind:
        case "httpGet":
            return {"httpGet": {"path": path, "port": port, "scheme": "HTTP"}}
        case "https":
            return {"httpGet": {"path": path, "port": port, "scheme": "HTTPS"}}
        case "grpc":
            return {"grpc": {"port": port, "service": ""}}
        case "tcpSocket":
            return {"tcpSocket": {"port": port}}
        case _:
            raise ValueError(kind)


@dataclass(frozen=True)
class ProbeReport:
    """What the prober reported about one attempt."""

    outcome: str
    cause: str
    text: str
    duration_ms: float


def attempt(case: Case, ports: Mapping[str, int]) -> ProbeReport:
    """Runs one attempt with the production handlers, on the calling thread."""
    probe = handler(case.handler, ports[case.behaviour], case.path) | {"timeoutSeconds": case.timeout_seconds}
    report = json.loads(_rust.attempt(json.dumps(probe).encode(), "127.0.0.1", [], USER_AGENT))
    return ProbeReport(report["outcome"], report["cause"], report["error"] or report["output"], report["duration_ms"])


def judge(case: Case, report: ProbeReport) -> None:
    """Checks outcome, cause and text, and that an attempt with ``runs_out`` did not end before its timeout.

    It may end late, because the machine may be busy.
    """
    assert report.outcome == case.outcome, report.text[:200]
    assert report.cause in {case.cause, case.other_cause}, report.text[:200]
    assert case.says in report.text, report.text[:200]
    assert len(report.text.encode()) <= TEXT_BYTES_MAX
    assert not case.runs_out or report.duration_ms >= case.timeout_seconds * 1000
