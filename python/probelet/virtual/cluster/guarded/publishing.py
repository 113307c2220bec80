"""Publishes the results of a node's liveness probes: ``beside.probes`` over the results of a simulation."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

import msgspec

from probelet.beside.guard.objects.node_probes import NodeProbes, read_node_probes
from probelet.beside.guard.objects.probe_name import probe_name
from probelet.beside.probes.merge import with_status
from probelet.beside.probes.publishing import GATHER_NS, Publishing
from probelet.beside.probes.report import NOT_RUNNING, Report, of_running, unknown, with_last_attempt
from probelet.beside.probes.wanted import Key
from probelet.policy.facts.snapshot import State
from probelet.spec.text.duration import MILLISECOND, SECOND
from probelet.virtual.agenda import Agenda, Entry
from probelet.virtual.cluster.guarded.last_attempts import LastAttempts
from probelet.virtual.cluster.node.pod import ClusterPod

_UNDECIDED: Final[Mapping[str, Any]] = {"result": None, "last": None}


class NodeStatus:
    """The NodePodProbe of one node. Its spec follows the pods at once, its status when ``Publishing`` says so.

    ``is_up``: the node's agent works and reaches the API server. ``on_write`` gets each version of the object.
    ``counts`` returns ``Simulation.metrics`` of the node.
    """

    def __init__(
        self,
        node: str,
        agenda: Agenda,
        seed: str,
        is_up: Callable[[], bool],
        on_write: Callable[[NodeProbes], None],
        counts: Callable[[], bytes],
    ) -> None:
        self._agenda = agenda
        self._is_up = is_up
        self._on_write = on_write
        self._publishing = Publishing(Random(seed).random)
        self._object: dict[str, Any] = {"metadata": {"name": node}, "spec": {"podProbes": []}}
        self._entries: dict[str, dict[str, Any]] = {}
        self._reports: dict[Key, Report] = {}
        self._attempts = LastAttempts(counts)
        self._look: Entry | None = None
        self._next: Entry | None = None

    def sync(self, pod: ClusterPod) -> bool:
        """Takes in a pod that has changed; returns whether ``write_spec`` has something to write."""
        now_ms, is_listed = self._agenda.now // MILLISECOND, pod.uid in self._entries
        if pod.is_gone:
            for key in [key for key in self._reports if key[0] == pod.uid]:
                del self._reports[key]
                self._attempts.forget(key)
                self._publishing.forget(key, self._agenda.now)
            self._entries.pop(pod.uid, None)
            self._arm()
            return is_listed
        for container in pod.pod.spec.containers:
            if container.liveness_probe is not None:
                key = _key(pod, container.name)
                if key not in self._reports:
                    self._publishing.begin(key, None, self._agenda.now)
                before, record = self._reports.get(key), pod.runtime.snapshot.newest(container.name)
                if record is not None and record.state is State.RUNNING:
                    self._report(key, of_running(before, record, _UNDECIDED, now_ms))
                else:
                    self._report(key, unknown(before, "" if before is None else NOT_RUNNING, now_ms))
        if not is_listed and (entry := _entry(pod)) is not None:
            self._entries[pod.uid] = entry
        self._arm()
        return not is_listed and pod.uid in self._entries

    def result(self, pod: ClusterPod, container: str, id: str, failure: str | None) -> None:
        """Takes in the result of a probe; ``failure`` is its message, None for success."""
        key, now_ms = _key(pod, container), self._agenda.now // MILLISECOND
        record = pod.runtime.running(id)
        if record is None or key not in self._reports:
            return
        last = {"outcome": "success" if failure is None else "failure", "message": failure or "", "at_ms": now_ms}
        row = {"result": "Success" if failure is None else "Failure", "last": last}
        self._report(key, of_running(self._reports[key], record, row, now_ms))
        if failure is not None and self._look is None:
            self._look = self._agenda.at(self._agenda.now, self._look_at_attempts)
        self._arm()

    def attempt_failed(self, pod: ClusterPod, container: str, message: str, at_ns: int) -> None:
        """Takes in a failed attempt of a probe, below its threshold or not."""
        key, record = _key(pod, container), pod.runtime.snapshot.newest(container)
        if record is None or record.state is not State.RUNNING or key not in self._reports:
            return
        probe = next(each.liveness_probe for each in pod.pod.spec.containers if each.name == container)
        assert probe is not None, "it has made an attempt"
        next_ns = at_ns + (probe.period_seconds + probe.timeout_seconds) * SECOND
        self._attempts.failed(key, message, next_ns)

    def _look_at_attempts(self) -> None:
        """Read which last attempts failed; again in a second while a probe of the node has failed."""
        now = self._agenda.now
        self._attempts.count()
        for key, report in self._reports.items():
            seen = with_last_attempt(report, self._attempts.row(key, now))
            if seen is not report:
                self._report(key, seen)
        has_failed = any(report.state == "Failed" for report in self._reports.values())
        self._look = self._agenda.at(now + GATHER_NS, self._look_at_attempts) if has_failed else None
        self._arm()

    def write_spec(self) -> None:
        """The mapping writes which probes the node has to make."""
        self._object = {**self._object, "spec": {"podProbes": list(self._entries.values())}}
        self._on_write(read_node_probes(self._object, "seed"))

    def _report(self, key: Key, report: Report) -> None:
        before = self._reports.get(key)
        self._reports[key] = report
        if before is None or not before.looks_like(report):
            self._publishing.record(key, report, self._agenda.now)

    def _arm(self) -> None:
        if self._next is not None:
            self._next.cancel()
        due = self._publishing.due_ns()
        self._next = None if due is None else self._agenda.at(max(due, self._agenda.now), self._write_status)

    def _write_status(self) -> None:
        self._next = None
        if not self._is_up():
            # The end of a partition, and an agent that starts, change every pod of the node.
            return
        now = self._agenda.now
        for key, report in self._reports.items():
            self._reports[key] = with_last_attempt(report, self._attempts.row(key, now))
        reports = {key: _with_last_run(report, now // MILLISECOND) for key, report in self._reports.items()}
        body = with_status(self._object, reports)
        if body is not None:
            self._object = body
            self._on_write(read_node_probes(body, "seed"))
        self._publishing.written(self._reports, now)
        self._arm()


def _with_last_run(report: Report, now_ms: int) -> Report:
    """A simulated probe rests after a failure; that of an agent goes on, so its last run is never old."""
    return report if report.state == "Unknown" else msgspec.structs.replace(report, probed_ms=now_ms)


def _key(pod: ClusterPod, container: str) -> Key:
    return pod.uid, probe_name("seed", pod.name, container)


def _entry(pod: ClusterPod) -> dict[str, Any] | None:
    """The pod's entry in the spec; None if it has no liveness probe."""
    probes = [
        {
            "name": probe_name("seed", pod.name, each.name),
            "containerName": each.name,
            "probe": msgspec.to_builtins(each.liveness_probe),
        }
        for each in pod.pod.spec.containers
        if each.liveness_probe is not None
    ]
    if not probes:
        return None
    return {"name": pod.name, "namespace": pod.pod.metadata.namespace, "uid": pod.uid, "probes": probes}
