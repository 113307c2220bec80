"""A recording: one scenario, and the trace of the kubelet's prober for it."""

from pathlib import Path
from typing import Any

import msgspec
from probelet.errors import ProbeletError

from probelet_conformance.release import release_of

SCHEMA = "kubelet-prober-trace/1"

Line = dict[str, Any]
Trace = dict[str, list[Line]]


class Variant(msgspec.Struct):
    """Another trace that the kubelet gave for the same scenario; an equal replay of any trace is right."""

    trace: Trace
    count: int = 1


class ScenarioPod(msgspec.Struct):
    """One pod of a scenario."""

    name: str
    namespace: str
    uid: str
    spec: dict[str, Any]
    pod_ip: str = ""
    deletion_timestamp_ms: int | None = None
    api_condition_ready: bool = False


class Scenario(msgspec.Struct):
    """The events, in virtual milliseconds since t = 0."""

    name: str
    duration_ms: int
    pods: list[ScenarioPod]
    description: str = ""
    tags: list[str] = []
    warmup_ms: int = 3_600_000
    kubelet_glue: dict[str, Any] = {}
    scripts: dict[str, list[dict[str, Any]]] = {}
    events: list[dict[str, Any]] = []


class Recording(msgspec.Struct):
    """A complete recording file."""

    schema: str
    scenario: Scenario
    trace: Trace
    variants: list[Variant] = []
    kubernetes: str = ""
    """The module whose prober was recorded, such as ``k8s.io/kubernetes v1.36.3``."""

    @property
    def release(self) -> str:
        """The minor release that was recorded, such as 1.36; the default one for a recording that does not say."""
        return release_of(self.kubernetes)

    @property
    def end_ms(self) -> int:
        """When the recording stops: the recorder applied every event and input, also those after `duration_ms`."""
        events, inputs = self.scenario.events, self.trace["inputs"]
        moments: list[int] = [line["t_ms"] for line in [*events, *inputs]]
        return max(self.scenario.duration_ms, *moments, 0)

    @property
    def uses_sockets(self) -> bool:
        """True if a probe of the scenario opens a connection, so that virtual time alone cannot play it."""
        handlers = ({"httpGet", "tcpSocket", "grpc"} & line["probe"].keys() for line in self.trace["effective_probes"])
        return any(handlers)

    @property
    def kills(self) -> bool:
        """True if failures have consequences in the scenario, so that a closed replay can play it."""
        return bool(self.scenario.kubelet_glue.get("kill_ms"))


class RecordingError(ProbeletError):
    """The file is no recording; the text names the file."""


def read(path: Path) -> bytes:
    """The content of a file.

    Raises:
        RecordingError: the file is unreadable.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}") from error
