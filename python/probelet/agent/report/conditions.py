"""The condition ``probelet.dev/ready`` of each pod, written when it changes; after an outage only the latest."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self

import structlog

from probelet.base.exposition.paced_log import PacedLog
from probelet.base.exposition.timestamp import rfc3339
from probelet.beside.pods.condition import Readiness
from probelet.beside.takeover.names import CONDITION, FIELD_MANAGER
from probelet.host.tasks import Tasks
from probelet.host.timers import Timers
from probelet.kube.connection import Connection
from probelet.kube.error import Conflict, KubeError, NotFound
from probelet.kube.kinds import PODS
from probelet.kube.pace import Pace
from probelet.spec.model.pod import PodCondition
from probelet.spec.text.duration import MILLISECOND, SECOND

REASSERT_NS: Final = 10 * SECOND
"""The shortest time between two writes of one condition because somebody else changed it: another program that does the
same must not lead to a contest of writes."""

WRITES_MAX: Final = 8
"""Most writes at once: a node whose pods all change waits a few round trips, and the API server is not flooded."""

log = structlog.get_logger("probelet.agent")


class Written(NamedTuple):
    """A condition as the API server has it."""

    ready: bool
    reason: str
    message: str

    @classmethod
    def of(cls, readiness: Readiness) -> Self:
        """The condition that says this."""
        return cls(readiness.ready, readiness.reason, readiness.condition_message)


@dataclass(slots=True)
class _Pod:
    namespace: str
    name: str
    wanted: Readiness
    written: Written | None = None
    """The condition that the API server has; None if it is not known."""
    since: str = ""
    """``lastTransitionTime`` of what the API server has."""
    version: int = 0
    """The version of the pod that our last write made."""
    reasserted_ns: int = 0
    over: bool = False
    """The API server has no such pod any more: nothing more is written."""
    writing: bool = False
    hurry: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_written(self) -> bool:
        """Whether the API server has what is wanted."""
        return self.written == Written.of(self.wanted)


class Conditions:
    """Writes conditions by server-side apply, with the pod's UID as precondition.

    The API server never has a result that a kill of the agent would lose: the engine's journal has it first.
    A write that fails is tried again with what is then the latest, until the pod is gone; ``hurry`` ends all waits
    but a wait that the API server asked for (Retry-After).
    ``counts`` has the writes by how they ended: ``ok``, ``gone`` or ``error``.
    """

    def __init__(self, connection: Connection, timers: Timers, tasks: Tasks) -> None:
        self.counts: Counter[str] = Counter()
        self._connection = connection
        self._timers = timers
        self._tasks = tasks
        self._pods: dict[str, _Pod] = {}
        # What the API server has of pods whose condition has not been calculated yet.
        self._found: dict[str, PodCondition] = {}
        self._turns = asyncio.Semaphore(WRITES_MAX)
        self._idle = asyncio.Event()
        self._idle.set()
        self._failed = PacedLog(log.warning, "condition cannot be written; the latest is tried again", timers.seconds)

    @property
    def waiting(self) -> int:
        """Pods whose condition the API server does not have yet."""
        return sum(pod.writing for pod in self._pods.values())

    def found(self, uid: str, condition: PodCondition | None, version: str) -> None:
        """The API server has this condition in this version of a pod. If somebody else has changed it since our last
        write, it is written again, as a kubelet does with its own conditions."""
        pod = self._pods.get(uid)
        if pod is None:
            if condition is not None:
                self._found[uid] = condition
        elif not pod.writing and _number(version) > pod.version > 0:
            _take(pod, condition)
            now = self._timers.now()
            wait_ns = max(0, pod.reasserted_ns + REASSERT_NS - now) if pod.reasserted_ns else 0
            if self._begin(uid, pod, wait_ns):
                pod.reasserted_ns = now + wait_ns

    def set(self, uid: str, namespace: str, name: str, readiness: Readiness) -> None:
        """The condition of a pod is this one from now on."""
        pod = self._pods.get(uid)
        if pod is None:
            pod = self._pods[uid] = _Pod(namespace, name, readiness)
            _take(pod, self._found.pop(uid, None))
        pod.wanted = readiness
        self._begin(uid, pod)

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        self._found.pop(uid, None)
        if (pod := self._pods.pop(uid, None)) is not None:
            pod.over = True
            pod.hurry.set()

    def hurry(self) -> None:
        """The API server answers again: what waits for another try is written now."""
        for pod in self._pods.values():
            pod.hurry.set()

    async def idle(self) -> None:
        """Waits until no write is under way, or about to be tried again."""
        await self._idle.wait()

    def _begin(self, uid: str, pod: _Pod, wait_ns: int = 0) -> bool:
        """Writes a condition that the API server does not have, unless that is under way; True if it begins."""
        if pod.writing or pod.over or pod.is_written:
            return False
        pod.writing = True
        self._idle.clear()
        self._tasks.spawn(self._write(uid, pod, wait_ns))
        return True

    async def _write(self, uid: str, pod: _Pod, wait_ns: int) -> None:
        pace = Pace()
        if wait_ns:
            await self._timers.sleep(wait_ns)
        while not pod.over and not pod.is_written:
            pod.hurry.clear()
            try:
                async with self._turns:
                    wanted = Written.of(pod.wanted)
                    # The agent after one that is killed knows only the journal, and would take this back.
                    await self._timers.journalled()
                    if wanted != Written.of(pod.wanted):
                        # It turned while the disk was busy: the API server never sees what is no longer so.
                        continue
                    await self._apply(uid, pod, wanted)
                self.counts["ok"] += 1
            except NotFound:
                self._end(pod)
            except KubeError as error:
                if isinstance(error, Conflict) and await self._is_replaced(uid, pod):
                    self._end(pod)
                    break
                self.counts["error"] += 1
                self._failed(pod=f"{pod.namespace}/{pod.name}", error=str(error))
                wait_ns = pace.after_failure(self._timers.now(), error.retry_after_ns)
                if error.retry_after_ns:
                    await self._timers.sleep(wait_ns)
                else:
                    await self._pause(pod, wait_ns)
        pod.writing = False
        if not self.waiting:
            self._idle.set()

    async def _apply(self, uid: str, pod: _Pod, wanted: Written) -> None:
        since = pod.since
        if pod.written is None or pod.written.ready != wanted.ready or not since:
            # metav1.Time has whole seconds.
            since = rfc3339(self._timers.wall_ns() // MILLISECOND)[:19] + "Z"
        condition: dict[str, Any] = {
            "type": CONDITION,
            "status": "True" if wanted.ready else "False",
            "lastTransitionTime": since,
        }
        texts = {"reason": wanted.reason, "message": wanted.message}
        condition |= {key: text for key, text in texts.items() if text}
        body = {
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": uid},
            "status": {"conditions": [condition]},
        }
        written = await self._connection.apply(PODS, body, subresource="status", manager=FIELD_MANAGER)
        pod.written, pod.since = wanted, since
        pod.version = _number(written.get("metadata", {}).get("resourceVersion", ""))

    async def _is_replaced(self, uid: str, pod: _Pod) -> bool:
        """Whether another pod has the name: a conflict may also be a passing one."""
        try:
            found = await self._connection.get(PODS, pod.name, pod.namespace)
        except NotFound:
            return True
        except KubeError:
            return False
        return bool(found.get("metadata", {}).get("uid") != uid)

    def _end(self, pod: _Pod) -> None:
        self.counts["gone"] += 1
        pod.over = True

    async def _pause(self, pod: _Pod, ns: int) -> None:
        over = self._timers.arm(self._timers.now() + ns, pod.hurry.set)
        try:
            await pod.hurry.wait()
        finally:
            self._timers.cancel(over)


def _take(pod: _Pod, found: PodCondition | None) -> None:
    """The API server has this condition of the pod."""
    if found is None:
        pod.written, pod.since = None, ""
    else:
        pod.written = Written(found.status == "True", found.reason, found.message)
        pod.since = found.last_transition_time or ""


def _number(version: str) -> int:
    """A resourceVersion as a number, which of two is the newer one (KEP-5504, 1.35); 0 for a text that is none."""
    return int(version) if version.isascii() and version.isdigit() and len(version) < 20 else 0
