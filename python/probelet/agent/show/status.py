"""The status document of the agent's pods, ``probelet-status/1``."""

from collections.abc import Iterable

from probelet._rust import Engine
from probelet.agent.pod.agent_pod import AgentPod
from probelet.agent.pod.pauses import Pauses
from probelet.base.exposition.timestamp import rfc3339
from probelet.beside.pods.facts import with_reasons
from probelet.host.status_rows import Workers, container_row, probe_row
from probelet.policy.glue.status_layer import status_of, status_rows
from probelet.policy.rules.kind import containers
from probelet.policy.status.container_status import ContainerStatus
from probelet.server.document.status import PodDocument, ProbeDocument, StatusHead
from probelet.server.status import Status
from probelet.server.worker import workers as workers_of


def status(pods: Iterable[AgentPod], pauses: Pauses, *, node: str, engine: Engine, history: int = 0) -> Status:
    """The document of these pods; ``history`` is how many of its last attempts each probe has."""
    shown = sorted(pods, key=lambda pod: pod.full_name)
    head: StatusHead = {"schema": "probelet-status/1", "as_of": rfc3339(engine.wall_ms()), "node": node}
    return Status(head, (_pod(pod, pauses, engine, history) for pod in shown))


def _pod(pod: AgentPod, pauses: Pauses, engine: Engine, history: int) -> PodDocument:
    known = status_of(engine, pod.uid)
    workers: Workers = {(worker.container, worker.type): worker for worker in workers_of(engine, pod.uid, history)}
    statuses, of_containers = with_reasons(pod.statuses, pod.api), status_rows(known)
    paused, held, rows = pauses.of(pod.uid), pod.held_kills(), []
    for kind, container in containers(pod.pod):
        found = statuses.get(container.name) or ContainerStatus(container.name, kind)
        probes: dict[str, ProbeDocument] = {
            probe_type: probe_row(probe, workers.get((container.name, probe_type)))
            for probe_type, probe in container.probes.items()
        }
        for probe_type in container.probes:
            if (changed_ms := pod.probe_changes.at_ms.get((container.name, probe_type))) is not None:
                probes[probe_type]["changed_at"] = rfc3339(changed_ms)
            if (until := paused.get((container.name, probe_type))) is not None:
                probes[probe_type]["paused_until"] = until
        row = container_row(found, of_containers.get(container.name, {}), None, probes)
        if (waits := held.get(container.name)) is not None:
            row["held"] = waits
        rows.append(row)
    meta = pod.pod.metadata
    return {
        "namespace": meta.namespace,
        "name": meta.name,
        "uid": pod.uid,
        "phase": known.get("phase", "Pending"),
        "reason": "",
        "message": "",
        "ip": known.get("pod_ip", ""),
        "ready": pod.readiness.ready,
        "ready_reason": pod.readiness.reason,
        "ready_message": pod.readiness.message,
        "problems": list(pod.problems),
        "foreign_listeners": [],
        "containers": rows,
    }
