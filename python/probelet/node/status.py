"""The status document, ``probelet-status/1``: other programs read it."""

from collections.abc import Iterable
from typing import NamedTuple

from probelet._rust import Engine
from probelet.base.exposition.timestamp import rfc3339
from probelet.host.status_rows import Workers, container_row, probe_row
from probelet.node.foreign_listeners import ForeignListeners
from probelet.node.pod import NodePod
from probelet.node.source.mistakes import Mistakes
from probelet.policy.glue.status_layer import status_of
from probelet.policy.node.restart_gate import RestartGate
from probelet.policy.rules.kind import containers
from probelet.policy.status.container_status import ContainerStatus
from probelet.policy.status.ready_condition import ready_condition
from probelet.server.document.status import (
    BackoffDocument,
    ForeignListenerDocument,
    MistakeDocument,
    PodDocument,
    ProbeDocument,
    StatusHead,
)
from probelet.server.status import Status
from probelet.server.worker import workers as workers_of
from probelet.spec.model.container import Container
from probelet.spec.text.duration import MILLISECOND, SECOND
from probelet.spec.text.problem import Problem


class Moment(NamedTuple):
    """One moment on the engine's clock and on the wall clock."""

    now_ns: int
    wall_ms: int

    def wall(self, ns: int) -> str:
        """A time of the engine's clock as RFC 3339."""
        return rfc3339(self.wall_ms + (ns - self.now_ns) // MILLISECOND)


def status(
    pods: Iterable[NodePod],
    mistakes: Mistakes,
    *,
    node: str,
    engine: Engine,
    gate: RestartGate,
    listeners: ForeignListeners | None = None,
    history: int = 0,
) -> Status:
    """The document of these pods, and of the mistakes of the manifests; ``history`` is how many of its last attempts
    each probe has."""
    moment = Moment(engine.now(), engine.wall_ms())
    shown = sorted(pods, key=lambda pod: pod.pod.full_name)
    head: StatusHead = {
        "schema": "probelet-status/1",
        "as_of": rfc3339(moment.wall_ms),
        "node": node,
        "manifest_errors": [_mistake(problem) for problem in mistakes.shown],
        "manifest_errors_total": mistakes.total,
    }

    def document(pod: NodePod) -> PodDocument:
        foreign = [] if listeners is None else listeners.of(pod.uid)
        workers: Workers = {(row.container, row.type): row for row in workers_of(engine, pod.uid, history)}
        return _pod(pod, workers, mistakes, foreign, engine, gate, moment)

    return Status(head, (document(pod) for pod in shown))


def _mistake(problem: Problem) -> MistakeDocument:
    name = problem.object
    return {
        "path": str(problem.path or ""),
        "line": problem.line,
        "kind": "" if name is None else name.kind,
        "namespace": "" if name is None else name.namespace,
        "name": "" if name is None else name.name,
        "field": problem.field,
        "message": problem.message,
    }


def _pod(
    pod: NodePod,
    workers: Workers,
    mistakes: Mistakes,
    foreign: list[ForeignListenerDocument],
    engine: Engine,
    gate: RestartGate,
    moment: Moment,
) -> PodDocument:
    known, held = status_of(engine, pod.uid), pod.held_kills()
    # Readiness changes while a kill blocks the pod's syncs; so the engine's status is shown, not the last sync's.
    of_containers = {row["name"]: row for key in ("containers", "init_containers") for row in known.get(key, ())}
    rows = []
    for kind, container in containers(pod.pod):
        status = pod.statuses.get(container.name) or ContainerStatus(container.name, kind)
        probes: dict[str, ProbeDocument] = {
            probe_type: probe_row(probe, workers.get((container.name, probe_type)))
            for probe_type, probe in container.probes.items()
        }
        for probe_type in container.probes:
            if (changed_ms := pod.probe_changes.at_ms.get((container.name, probe_type))) is not None:
                probes[probe_type]["changed_at"] = rfc3339(changed_ms)
        backoff = _backoff(pod, container, gate, moment)
        row = container_row(status, of_containers.get(container.name, {}), backoff, probes)
        if (until_ns := pod.stops_at.get(status.container_id)) is not None:
            row["stopping_until"] = moment.wall(until_ns)
        if (waits := held.get(container.name)) is not None:
            row["held"] = waits
        rows.append(row)
    meta = pod.pod.metadata
    outdated = mistakes.outdated.get(pod.full_name)
    condition = ready_condition(pod.pod, known)
    return {
        "namespace": meta.namespace,
        "name": meta.name,
        "uid": meta.uid,
        "phase": pod.machine.phase,
        "reason": pod.machine.reason,
        "message": pod.machine.message,
        "ip": known.get("pod_ip", ""),
        "ready": condition.ready,
        "ready_reason": condition.reason,
        "ready_message": condition.message,
        "manifest_error": None if outdated is None else str(outdated),
        "foreign_listeners": foreign,
        "ignored": [{"field": found.field, "reason": found.reason} for found in pod.manifest.ignored],
        "stands_for": pod.manifest.stands_for,
        "misspelt": list(pod.manifest.misspelt),
        "containers": rows,
    }


def _backoff(pod: NodePod, container: Container, gate: RestartGate, moment: Moment) -> BackoffDocument | None:
    wait = pod.machine.waits.get(container.name)
    if wait is None:
        return None
    whole, part = divmod(wait.delay_ns, SECOND)
    return {
        "delay_seconds": wait.delay_ns / SECOND if part else whole,
        "step": gate.step(pod.pod, container),
        "due_at": moment.wall(wait.due_ns),
    }
