"""Pauses of probes: an operator asks for them, they end by themselves, and a restart of the agent keeps them."""

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

import structlog

from probelet.agent.state.json_files import JsonFiles
from probelet.agent.state.records import Pause, PausedPod
from probelet.base.exposition.timestamp import rfc3339
from probelet.host.engine_host import EngineHost
from probelet.server.control.command import NoSuchPodError
from probelet.server.document.event import PausedProbe
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import PROBE_TYPES, ProbeType
from probelet.spec.text.duration import MILLISECOND, SECOND

LEFT_NS: Final = 10 * 365 * 86_400 * SECOND
"""How long the probes of a pod that is left alone rest, unless its label changes: longer than a pod lives."""

log = structlog.get_logger("probelet.agent")


class ProbedPod(Protocol):
    """A pod whose probes are paused."""

    uid: str
    full_name: str
    pod: Pod


class Pauses:
    """The pauses of all pods. The engine leaves out the attempts; results stay as they are meanwhile."""

    def __init__(self, host: EngineHost, files: JsonFiles[PausedPod]) -> None:
        self._host = host
        self._files = files
        self._pods: dict[str, dict[tuple[str, ProbeType], Pause]] = {}

    def load(self) -> None:
        """Reads the pauses that an earlier agent kept; ``begin`` gives them to the engine."""
        for paused in self._files.load():
            self._pods[paused.uid] = {(pause.container, pause.probe_type): pause for pause in paused.pauses}

    def begin(self, uid: str) -> None:
        """The engine has got a pod: it learns of the pauses that are left."""
        for pause in self._pods.get(uid, {}).values():
            self._apply(uid, pause)

    def leave(self, uid: str, pod: Pod, *, left: bool) -> None:
        """Makes no attempt for a pod from now on, or goes on with them, but for the pauses that are left."""
        until_ns = self._host.timers.now() + (LEFT_NS if left else 0)
        for container, probe_type in _probes(pod, None, None):
            self._host.engine.pause(uid, container, probe_type, until_ns)
        if not left:
            self.begin(uid)

    async def set(
        self, pod: ProbedPod, container: str | None, probe_type: ProbeType | None, seconds: int
    ) -> list[PausedProbe]:
        """Pauses the probes of a pod, or of one container or type, for ``seconds`` from now on; with 0 ends their
        pauses. On return the state directory has it. Raises NoSuchPodError if the pod has no such probe."""
        wall_ms, length_ms = self._host.timers.wall_ns() // MILLISECOND, seconds * 1000
        chosen = list(_probes(pod.pod, container, probe_type))
        if not chosen:
            wanted = " ".join(part for part in (container, probe_type) if part)
            raise NoSuchPodError(f'pod "{pod.full_name}" has no probe here of {wanted or "any type"}')
        known = {key: pause for key, pause in self._pods.get(pod.uid, {}).items() if pause.left_ms(wall_ms)}
        for name, kind in chosen:
            pause = Pause(container=name, probe_type=kind, until_ms=wall_ms + length_ms, length_ms=length_ms)
            self._apply(pod.uid, pause)
            known.pop((name, kind), None)
            if seconds:
                known[name, kind] = pause
        self._pods[pod.uid] = known
        until = rfc3339(wall_ms + length_ms) if seconds else None
        log.info("probes paused" if seconds else "pauses ended", pod=pod.full_name, seconds=seconds, probes=len(chosen))
        await self._keep(pod.uid)
        return [{"container": name, "probe_type": kind, "paused_until": until} for name, kind in chosen]

    def of(self, uid: str) -> Mapping[tuple[str, ProbeType], str]:
        """Until when the probes of a pod are paused, by container and type, as RFC 3339."""
        wall_ms = self._host.timers.wall_ns() // MILLISECOND
        pauses = self._pods.get(uid, {}).items()
        return {key: rfc3339(wall_ms + left) for key, pause in pauses if (left := pause.left_ms(wall_ms))}

    @property
    def count(self) -> int:
        """How many probes are paused."""
        return sum(len(self.of(uid)) for uid in self._pods)

    def forget(self, uid: str) -> None:
        """Nothing is left of the pod."""
        if self._pods.pop(uid, None) is not None:
            self._host.tasks.spawn(self._keep(uid))

    def _apply(self, uid: str, pause: Pause) -> None:
        left_ns = pause.left_ms(self._host.timers.wall_ns() // MILLISECOND) * MILLISECOND
        self._host.engine.pause(uid, pause.container, pause.probe_type, self._host.timers.now() + left_ns)

    async def _keep(self, uid: str) -> None:
        pauses = list(self._pods.get(uid, {}).values())
        try:
            if pauses:
                await self._files.put(uid, PausedPod(uid=uid, pauses=pauses))
            else:
                await self._files.remove(uid)
        except OSError as error:
            log.error("pauses cannot be kept: the next agent will not know them", uid=uid, error=str(error))


def _probes(pod: Pod, container: str | None, probe_type: ProbeType | None) -> Iterable[tuple[str, ProbeType]]:
    for known in (*pod.spec.init_containers, *pod.spec.containers):
        for kind in PROBE_TYPES:
            if container in (None, known.name) and probe_type in (None, kind) and known.probe(kind) is not None:
                yield known.name, kind
