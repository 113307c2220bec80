"""ContainerRecreateRequests in virtual time: the API server's objects, their manager, and the executors of the nodes.

Law: ``manage`` and ``execute`` of ``beside.guard.recreate`` decide. This module stores what they write, and puts the
moments of their next steps on the agenda. ``RequestedPods`` is all that it knows of pods.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.objects.recreate_request import RecreateRequest, read_request
from probelet.beside.guard.objects.requested_pod import RequestedPod
from probelet.beside.guard.recreate.execute import execute
from probelet.beside.guard.recreate.execution import Execution, next_execution
from probelet.beside.guard.recreate.manage import Age, Delete, Patch, manage
from probelet.beside.guard.restart.protocol.inputs import RequestKey
from probelet.policy.facts.snapshot import Snapshot
from probelet.spec.text.duration import MILLISECOND
from probelet.virtual.agenda import Agenda, Entry

Object: TypeAlias = dict[str, Any]


class RequestedPods(Protocol):
    """The pods that requests are for."""

    @property
    def runtime(self) -> str:
        """The type in ``type://id`` of every node's runtime."""

    def of_api(self, request: RecreateRequest) -> RequestedPod | None:
        """The pod of the request as the API server has it; None if it has none of that name. Without the readiness
        gate KruisePodReady, which no model of pods has."""

    def snapshot(self, uid: str) -> Snapshot | None:
        """The containers of a pod as the executor of its node sees them; None while no executor works at this pod."""

    def stop(self, request: RecreateRequest, container: str, id: str, on_end: Callable[[], None]) -> None:
        """Stops an instance within its grace; ``on_end`` is called once it has ended."""


@dataclass(slots=True, eq=False)
class _Managed:
    """``seen_ns``: since when the manager knows the request; ``next``: when it looks again."""

    request: RecreateRequest
    seen_ns: int
    next: Entry | None = None


class Requests:
    """All requests of a cluster. ``on_change`` gets each new version, None for one that is deleted. ``watch_ns``: how
    long an executor takes to learn of a new request. ``offset_ns``: the wall clock at zero of the agenda."""

    def __init__(
        self,
        agenda: Agenda,
        pods: RequestedPods,
        on_change: Callable[[RequestKey, Object | None], None],
        *,
        watch_ns: int,
        offset_ns: int = 0,
    ) -> None:
        self.objects: dict[RequestKey, Object] = {}
        self._agenda = agenda
        self._pods = pods
        self._on_change = on_change
        self._watch_ns = watch_ns
        self._offset_ns = offset_ns
        self._created = 0
        self._managed: dict[RequestKey, _Managed] = {}
        # The executor of each pod: its requests by UID, the instances that it kills, and when it looks again.
        self._executions: dict[str, dict[str, Execution]] = {}
        self._killing: set[str] = set()
        self._next: dict[str, Entry] = {}

    def create(self, body: Object) -> None:
        """Creates a request that the webhook has completed and that has a new name."""
        self._created += 1
        meta = {**body["metadata"], "uid": f"crr-{self._created}", "creationTimestamp": text(self._wall_ns)}
        key = meta["namespace"], meta["name"]
        self.objects[key] = {**body, "metadata": meta, "status": {}}
        managed = self._managed[key] = _Managed(read_request(self.objects[key]), self._agenda.now)
        self._on_change(key, self.objects[key])
        self._manage_at(key, managed, self._agenda.now)
        self._agenda.at(self._agenda.now + self._watch_ns, lambda: self._see(key, managed))

    def delete(self, key: RequestKey) -> None:
        """Deletes a request, if there is one of that name."""
        if self.objects.pop(key, None) is None:
            return
        managed = self._managed.pop(key, None)
        if managed is not None:
            self._executions.get(managed.request.pod_uid, {}).pop(managed.request.uid, None)
            self.pod_changed(managed.request.pod_uid)
        self._on_change(key, None)

    def pod_changed(self, uid: str) -> None:
        """The API server or the runtime has news of a pod."""
        now = self._agenda.now
        for key, managed in self._of_pod(uid):
            self._manage_at(key, managed, now)
        self._execute_at(uid, now)

    @property
    def _wall_ns(self) -> int:
        return self._agenda.now + self._offset_ns

    def _of_pod(self, uid: str) -> Iterator[tuple[RequestKey, _Managed]]:
        for key, managed in self._managed.items():
            if managed.request.pod_uid == uid and not managed.request.is_completed:
                yield key, managed

    def _patch(self, key: RequestKey, body: Object) -> None:
        """Writes a version of a request. Its manager and its executor look at it, after what is due already."""
        managed, now = self._managed[key], self._agenda.now
        obj = self.objects[key] = _merged(self.objects[key], body)
        request = managed.request = read_request(obj)
        executions = self._executions.get(request.pod_uid, {})
        if request.is_completed:
            executions.pop(request.uid, None)
        elif request.uid in executions:
            executions[request.uid].update(request, now)
        self._manage_at(key, managed, now)
        self._execute_at(request.pod_uid, now)
        self._on_change(key, obj)

    # The manager.

    def _manage_at(self, key: RequestKey, managed: _Managed, moment: int) -> None:
        if managed.next is not None:
            managed.next.cancel()
        managed.next = self._agenda.at(moment, lambda: self._manage(key, managed))

    def _manage(self, key: RequestKey, managed: _Managed) -> None:
        if self._managed.get(key) is not managed:
            return
        request, now, wall = managed.request, self._agenda.now, self._wall_ns
        age = Age(by_clock_ns=wall - request.created_ns, seen_ns=now - managed.seen_ns)
        found = manage(request, self._pods.of_api(request), age, wall)
        match found.action:
            case Patch(body):
                self._patch(key, body)
            case Delete():
                self.delete(key)
            case None:
                if found.again_ns is not None:
                    self._manage_at(key, managed, now + found.again_ns)
            case _:
                raise AssertionError("a pod without the readiness gate gets no condition")

    # The executors.

    def _see(self, key: RequestKey, managed: _Managed) -> None:
        """The executor of the pod's node learns of a request."""
        request = managed.request
        if self._managed.get(key) is managed and not request.is_completed:
            execution = Execution.of(request, {}, self._agenda.now)
            self._executions.setdefault(request.pod_uid, {})[request.uid] = execution
            self._execute_at(request.pod_uid, self._agenda.now)

    def _execute_at(self, uid: str, moment: int) -> None:
        if (earlier := self._next.pop(uid, None)) is not None:
            earlier.cancel()
        if self._executions.get(uid):
            self._next[uid] = self._agenda.at(moment, lambda: self._execute(uid))
        else:
            self._executions.pop(uid, None)

    def _execute(self, uid: str) -> None:
        """One step of a pod's executor, as ``agent.recreate`` takes it."""
        executions, snapshot = self._executions.get(uid), self._pods.snapshot(uid)
        if not executions or snapshot is None:
            return
        picked = next_execution(executions.values())
        again_ns = None if picked is None else self._step(picked, snapshot)
        if again_ns is not None:
            self._execute_at(uid, self._agenda.now + again_ns)
        for each in list(executions.values()):
            key = each.request.namespace, each.request.name
            if each.progress != each.written and key in self._managed:
                each.written = each.progress
                self._patch(key, {"status": each.status(text(self._wall_ns))})

    def _step(self, execution: Execution, snapshot: Snapshot) -> int | None:
        request, now = execution.request, self._agenda.now
        wall_ms = self._wall_ns // MILLISECOND
        pod = execution.observed(snapshot, self._killing, now, wall_ms=wall_ms, runtime=self._pods.runtime, is_up=True)
        step = execute(request, execution.progress, pod)
        if step.kill:
            id = pod.instances[step.kill].id
            self._killing.add(id)
            execution.begin_kill(step.kill, id)
            self._pods.stop(request, step.kill, id, lambda: self._killed(request.pod_uid, id))
        if step.progress != execution.progress:
            execution.progress = step.progress
            return 0
        return step.again_ns

    def _killed(self, uid: str, id: str) -> None:
        self._killing.discard(id)
        self._execute_at(uid, self._agenda.now)


def _merged(target: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(merged.get(name), value)
    return merged
