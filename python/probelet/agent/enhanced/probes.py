"""All probes of the node's NodePodProbe: facts go to the engine, and its results become reports."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from typing import Any, Final

import msgspec
import structlog
from msgspec.structs import replace

from probelet._rust import Engine, EventRecord, ExecRun, Update
from probelet.agent.enhanced.dependencies import EnhancedDependencies
from probelet.agent.enhanced.live_probe import LiveProbe
from probelet.beside.guard.objects.node_probes import cut
from probelet.beside.pods.api_pod import ApiPod
from probelet.beside.pods.begun import Begun
from probelet.beside.probes.asked import unasked
from probelet.beside.probes.engine_pod import engine_pod, engine_status, runtime_id
from probelet.beside.probes.report import NOT_RUNNING, Report, of_running, unknown
from probelet.beside.probes.wanted import Key, Wanted, refused_host
from probelet.host.engine_host import EngineHost
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.runtime.execs.limits import ExecLimits
from probelet.runtime.execs.runtime_execs import RuntimeExecs
from probelet.spec.text.duration import MILLISECOND, SECOND

EXECS_MAX: Final = 128
"""Most commands at once (D-15): each is a process in a container and a call of the runtime. Others wait, first come,
first served. Probes over sockets have no such limit here: the engine's share of descriptors limits them."""

EXEC_DEADLINE: Final = 1.0
"""Seconds after its own timeout at which a command's attempt is over, whatever the runtime does (D-7)."""

EVENT_NS: Final = 60 * SECOND
"""The shortest time between two events about one probe (D-13)."""

UNASKED_NS: Final = 10 * SECOND
"""How long a probe may differ from its pod's annotation before an event says so: both change one after the other, and
two watches bring them in any order."""

_UNDECIDED: Final[Mapping[str, Any]] = {"result": None, "last": None}
"""The row of a worker that has not seen the instance yet."""

log = structlog.get_logger("probelet.agent")


class EnhancedProbes:
    """The probes by key. ``on_report`` is called with each probe whose report has changed, ``on_removed`` with a key
    that is no longer wanted; ``on_added`` with a new key and what the object has of it."""

    def __init__(
        self,
        dependencies: EnhancedDependencies,
        *,
        on_added: Callable[[Key, Report | None], None],
        on_report: Callable[[Key, Report], None],
        on_removed: Callable[[Key], None],
    ) -> None:
        self.by_pod: dict[str, dict[str, LiveProbe]] = {}
        """The probes by the UID of their pod and by name."""
        self.engine: Engine | None = None
        """None until the first probe."""
        self.refused = 0
        """Probes that could not run, by what the object says of them."""
        self._dependencies = dependencies
        self._host = dependencies.host
        self._on_added = on_added
        self._on_report = on_report
        self._on_removed = on_removed
        self._own: EngineHost | None = None
        self._execs: RuntimeExecs | None = None
        self._begun: dict[str, Begun] = {}
        self._by_engine_uid: dict[str, LiveProbe] = {}
        self._numbers = count(1)

    # What is wanted.

    def set(self, wanted: Mapping[Key, Wanted], shown: Mapping[Key, Report]) -> None:
        """The object asks for these probes and no others; ``shown`` are the states that it has."""
        for probe in [probe for probes in self.by_pod.values() for probe in probes.values()]:
            if probe.wanted.key not in wanted:
                self._remove(probe)
        changed: set[str] = set()
        for key, each in wanted.items():
            old = self.by_pod.get(each.uid, {}).get(each.name)
            if old is None or old.wanted != each:
                self._add(each, old, shown.get(key))
                changed.add(each.uid)
        if changed:
            self._host.pleg.request_relist()
        for uid in changed:
            self.observe(uid)

    def _add(self, wanted: Wanted, old: LiveProbe | None, shown: Report | None) -> None:
        report = shown if old is None else old.report
        if old is not None and not old.wanted.counts_as(wanted):
            # Another question: the answer to the old one must not stand for it (D-10).
            report = unknown(report, "", self._wall_ms())
        probe = LiveProbe(wanted, next(self._numbers), report)
        if old is None:
            self.by_pod.setdefault(wanted.uid, {})
            self._begun.setdefault(wanted.uid, Begun(()))
            self._on_added(wanted.key, shown)
        else:
            probe.event_ns, probe.warning_ns = old.event_ns, old.warning_ns
            self._leave_engine(old)
            if report is not None:
                self._on_report(wanted.key, report)
        self.by_pod[wanted.uid][wanted.name] = probe

    def _remove(self, probe: LiveProbe) -> None:
        self._leave_engine(probe)
        uid = probe.wanted.uid
        del self.by_pod[uid][probe.wanted.name]
        if not self.by_pod[uid]:
            del self.by_pod[uid], self._begun[uid]
            if not self._dependencies.is_taken_over(uid):
                self._host.cache.forget(uid)
        self._on_removed(probe.wanted.key)

    def _leave_engine(self, probe: LiveProbe) -> None:
        if probe.status and self.engine is not None:
            self.engine.forget_pod(probe.engine_uid)
            self._by_engine_uid.pop(probe.engine_uid, None)
            probe.status = b""

    # What the runtime and the kubelet say.

    def observe(self, uid: str) -> None:
        """The cache or the API server may have news of this pod."""
        probes = self.by_pod.get(uid)
        if not probes:
            return
        first = next(iter(probes.values())).wanted
        api = self._dependencies.api_pod(uid, first.namespace, first.pod)
        snapshot = self._host.cache.snapshot(uid)
        known, made = {} if api is None else api.containers, self._dependencies.made_startups(uid)
        seen = self._begun[uid].observe(snapshot, known, is_away=False, made_startups=made)
        on_host = api is not None and api.is_on_host_network
        address = self._host.address if on_host else snapshot.pod_ip
        for probe in list(probes.values()):
            problem = probe.wanted.problem or refused_host(probe.wanted, address, on_host_network=on_host)
            if api is None and not probe.status and not problem:
                # Nobody has said yet what the pod asks for: what is known stays.
                self._report(probe, probe.report or unknown(None, "", self._wall_ms()))
                continue
            not_asked = "" if problem else self._unasked(probe.wanted, api)
            probe.refused = problem or not_asked
            if problem:
                self._refuse(probe, "ELPInvalidProbe" if probe.wanted.problem else "ELPHostRefused")
            elif not_asked:
                self._refuse(probe, "ELPProbeRefused", after_ns=UNASKED_NS)
            else:
                self._sync(probe, snapshot, seen, probe.wanted.host or address if on_host else address)

    def observe_all(self) -> None:
        """Everything may have changed."""
        for uid in list(self.by_pod):
            self.observe(uid)

    def _unasked(self, wanted: Wanted, api: ApiPod | None) -> str:
        return unasked(wanted, api.asked) if self._dependencies.is_asked_only and api is not None else ""

    def _refuse(self, probe: LiveProbe, reason: str, *, after_ns: int = 0) -> None:
        self._leave_engine(probe)
        if not probe.is_warned:
            probe.is_warned = True
            if after_ns:
                self._host.timers.arm(self._host.timers.now() + after_ns, partial(self._warn, probe, reason))
            else:
                self._warn(probe, reason)
        self._report(probe, unknown(probe.report, probe.refused, self._wall_ms()))

    def _warn(self, probe: LiveProbe, reason: str) -> None:
        wanted = probe.wanted
        if self.by_pod.get(wanted.uid, {}).get(wanted.name) is not probe or not probe.refused:
            probe.is_warned = False
            return
        self.refused += 1
        self._record(probe, "Warning", reason, f"probe {wanted.name} does not run: {probe.refused}")

    def _sync(self, probe: LiveProbe, snapshot: Snapshot, seen: Snapshot, address: str) -> None:
        newest = snapshot.newest(probe.wanted.container)
        if newest is None and probe.record is None:
            # The runtime has not been listed, or the pod has only begun: what is known stays.
            self._report(probe, probe.report or unknown(None, "", self._wall_ms()))
            return
        if newest is None or newest.state in (State.CREATED, State.ENDED, State.EXITED):
            self._set_ended(probe, newest)
            self._report(probe, unknown(probe.report, NOT_RUNNING, self._wall_ms()))
        elif newest.state is State.RUNNING and newest.id in self._begun[probe.wanted.uid]:
            self._set_status(probe, newest, address)
            self._read(probe, None)
        elif probe.record is None or newest.id != probe.record.id:
            # It runs, and its postStart hook or native startup probe may be under way.
            self._set_ended(probe, None)
            self._report(probe, of_running(probe.report, newest, _UNDECIDED, self._wall_ms()))

    def _set_ended(self, probe: LiveProbe, record: ContainerRecord | None) -> None:
        """The engine sees no running instance. A worker that never saw one needs no status."""
        if probe.record is not None:
            self._set_status(probe, record or replace(probe.record, state=State.ENDED), "")

    def _set_status(self, probe: LiveProbe, record: ContainerRecord, address: str) -> None:
        wanted = probe.wanted
        started = bool(address or not wanted.is_dialled) and self._dependencies.has_started(
            wanted.uid, wanted.container, record.id
        )
        status = engine_status(record, probe.number, address=address, started=started)
        if status == probe.status:
            return
        engine, is_new = self._running_engine(), not probe.status
        probe.record, probe.status = record, status
        self._by_engine_uid[probe.engine_uid] = probe
        # The status comes first: a worker that finds none makes its first run a period later.
        engine.set_pod_status(probe.engine_uid, status)
        if is_new:
            engine.add_pod(engine_pod(wanted, probe.number))

    # What the engine finds.

    def _running_engine(self) -> Engine:
        if self.engine is None:
            limits = self._host.exec_limits
            self.engine = self._dependencies.make_engine()
            self._execs = RuntimeExecs(self._host.client, self.engine, exec_limits(limits), runtime_id=runtime_id)
            self._own = EngineHost(self.engine, self._host.node)
            self._own.batches.watch(self)
            log.info("enhanced liveness: this node has probes")
        return self.engine

    @property
    def events_dropped(self) -> int:
        """Events that the engine dropped because they were not read in time."""
        return 0 if self._own is None else self._own.batches.events_dropped

    def start_execs(self, runs: list[ExecRun]) -> None:
        """Begins exec attempts of the engine."""
        assert self._execs is not None, "it is made with the engine"
        self._execs.start(runs)

    def handle(self, events: list[EventRecord], updates: list[Update]) -> None:
        """Reads the probes that a batch is about, once each."""
        news = {update.pod_uid for update in updates if update.result is not None}
        # A failure below the threshold, or one that lasts, is no update, but it may have another message.
        for uid in news.union(event.pod_uid for event in events):
            if probe := self._by_engine_uid.get(uid):
                self._read(probe, None)
        for event in events:
            if event.reason == "ProbeWarning" and (probe := self._by_engine_uid.get(event.pod_uid)):
                self._record_warning(probe, event.message)

    def request_sync(self, uid: str) -> None:
        """Does nothing: this engine has no glue, and asks for no sync."""

    def reports(self) -> dict[Key, Report]:
        """The present states, with the times of the last runs."""
        rows = {} if self.engine is None else _rows(self.engine, None)
        for probe in list(self._by_engine_uid.values()):
            self._read(probe, rows)
        probes = (probe for probes in self.by_pod.values() for probe in probes.values())
        return {probe.wanted.key: probe.report for probe in probes if probe.report is not None}

    def _read(self, probe: LiveProbe, rows: Mapping[str, Mapping[str, Any]] | None) -> None:
        record = probe.record
        if self.engine is None or record is None or record.state is not State.RUNNING:
            return
        row = (_rows(self.engine, probe.engine_uid) if rows is None else rows).get(probe.engine_uid, _UNDECIDED)
        if row is not _UNDECIDED and not probe.is_seen_by(row["container_id"]):
            row = _UNDECIDED
        self._report(probe, of_running(probe.report, record, row, self._wall_ms()))

    def _report(self, probe: LiveProbe, report: Report) -> None:
        before, probe.report = probe.report, report
        if before is None or not before.looks_like(report):
            self._on_report(probe.wanted.key, report)
        if report.state != "Unknown" and (before is None or before.state != report.state):
            self._record_state(probe, report)

    def _record_state(self, probe: LiveProbe, report: Report) -> None:
        now, wanted = self._host.timers.now(), probe.wanted
        if probe.event_ns is not None and now - probe.event_ns < EVENT_NS:
            return
        probe.event_ns = now
        if report.state == "Succeeded":
            self._record(probe, "Normal", "ELPProbeSucceeded", f"probe {wanted.name} succeeded")
        else:
            self._record(probe, "Warning", "ELPProbeFailed", cut(f"probe {wanted.name} failed: {report.message}"))

    def _record_warning(self, probe: LiveProbe, message: str) -> None:
        """Records a success with a warning, a redirect to another host (kubelet prober/prober.go:probe, 1.36)."""
        now = self._host.timers.now()
        if probe.warning_ns is None or now - probe.warning_ns >= EVENT_NS:
            probe.warning_ns = now
            self._record(probe, "Warning", "ProbeWarning", cut(message))

    def _record(self, probe: LiveProbe, type: Any, reason: str, message: str) -> None:
        wanted = probe.wanted
        place = f"spec.containers{{{wanted.container}}}"
        self._host.recorder.record(wanted.uid, wanted.full_name, type, reason, message, place)

    def _wall_ms(self) -> int:
        return self._host.timers.wall_ns() // MILLISECOND

    async def close(self) -> None:
        """Ends all probes."""
        if self._own is not None and self._execs is not None:
            await self._execs.close()
            await self._own.close()


def exec_limits(limits: ExecLimits) -> ExecLimits:
    """The limits of commands: the node's own where they are tighter."""
    most, deadline = limits.max_in_flight, limits.client_deadline
    return replace(
        limits,
        max_in_flight=EXECS_MAX if most is None else min(most, EXECS_MAX),
        client_deadline=EXEC_DEADLINE if deadline is None else min(deadline, EXEC_DEADLINE),
    )


def _rows(engine: Engine, uid: str | None) -> dict[str, Mapping[str, Any]]:
    """The workers by the UID of their pod in the engine: each has one."""
    return {row["pod_uid"]: row for row in msgspec.json.decode(engine.probe_states(uid))}
