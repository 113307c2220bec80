"""What a hostile target does, and what is said of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from probelet import _rust

USER_AGENT = "kube-probe/1.36"
# Of an attempt that only the clock ends: time enough to get as far as the target lets it on a machine with other work.
TIMEOUT_SECONDS = 2
# Of an attempt that the target ends, or a bound of ours: what ends a flood is its size, however long that takes.
FLOOD_SECONDS = 60
# An output, an error or a failure never says more (kubelet pkg/probe/http/http.go:maxRespBodyLength, 1.36).
SAID_BYTES_MAX = 10_240


@dataclass(frozen=True)
class Case:
    """One target and the attempt that meets it."""

    behaviour: str
    outcome: str
    cause: str
    says: str = ""
    """Part of the output or of the error."""
    handler: str = "httpGet"
    """``httpGet``, ``https`` for one with that scheme, ``tcpSocket`` or ``grpc``."""
    path: str = "/"
    runs_out: bool = False
    """Whether it is the timeout that ends it."""
    other_cause: str = ""
    """As right as ``cause``: an attempt that begins over and over is somewhere when its time is over."""

    @property
    def timeout_seconds(self) -> int:
        return TIMEOUT_SECONDS if self.runs_out else FLOOD_SECONDS

    def __str__(self) -> str:
        return self.behaviour if self.handler == "httpGet" else f"{self.handler}-{self.behaviour}"


def handler(kind: str, port: int, path: str = "/") -> dict[str, Any]:
    """A probe's handler as a v1.Probe has it."""
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
class Told:
    """What the prober said of a target."""

    outcome: str
    cause: str
    said: str
    duration_ms: float


def attempt(case: Case, ports: Mapping[str, int]) -> Told:
    """One attempt through the production handlers, on the calling thread."""
    probe = handler(case.handler, ports[case.behaviour], case.path) | {"timeoutSeconds": case.timeout_seconds}
    told = json.loads(_rust.attempt(json.dumps(probe).encode(), "127.0.0.1", [], USER_AGENT))
    return Told(told["outcome"], told["cause"], told["error"] or told["output"], told["duration_ms"])


def judge(case: Case, told: Told) -> None:
    """The right outcome for the right reason: also that it was the clock that ended it, or that it was not.

    How late an attempt ends that the clock ends is the machine's affair; what it may not do is end before.
    """
    assert told.outcome == case.outcome, told.said[:200]
    assert told.cause in {case.cause, case.other_cause}, told.said[:200]
    assert case.says in told.said, told.said[:200]
    assert len(told.said.encode()) <= SAID_BYTES_MAX
    assert not case.runs_out or told.duration_ms >= case.timeout_seconds * 1000
