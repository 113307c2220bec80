"""The content of the HTTP pages of ``serve`` (``server.view.View``): probes and their results. Everything else about a
pod, its restarts for example, the caller keeps to itself."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from probelet.base.exposition.family import counter, gauge, page
from probelet.base.exposition.process_metrics import render_process
from probelet.base.exposition.timestamp import rfc3339
from probelet.host.engine_host import EngineHost
from probelet.server.document.event import RecordedEvent
from probelet.server.document.status import ContainerDocument, PodDocument, StatusHead
from probelet.server.status import Status
from probelet.server.worker import WorkerState, probe_document, workers
from probelet.service.handed_over_pods import HandedOverPods

_LISTS: Final = (("containers", "regular"), ("init_containers", "init"))


class PagesView:
    """``configuration`` is what ``/configz`` shows."""

    def __init__(self, host: EngineHost, pods: HandedOverPods, configuration: Mapping[str, Any]) -> None:
        self._host = host
        self._engine = host.engine
        self._pods = pods
        self._configuration = configuration

    def status(self, history: int = 0, pod: str = "") -> Status:
        """The status document: each pod with the containers of its status. A v1.PodStatus does not say whether an init
        container is a sidecar."""
        pods = sorted(self._pods.names.items(), key=lambda pod: pod[1])
        head: StatusHead = {
            "schema": "probelet-status/1",
            "as_of": rfc3339(self._engine.wall_ms()),
            "node": self._host.node,
        }
        asked = (found for found in pods if pod in ("", "/".join(found[1])))
        return Status(head, (self._pod(uid, name, history) for uid, name in asked))

    def _pod(self, uid: str, name: tuple[str, str], history: int) -> PodDocument:
        probed = workers(self._engine, uid, history)
        status = msgspec.json.decode(self._engine.status(uid) or b"{}")
        rows = [_container(row, kind, probed) for key, kind in _LISTS for row in status.get(key, ())]
        return {
            "namespace": name[0],
            "name": name[1],
            "uid": uid,
            "phase": status.get("phase", "Pending"),
            "reason": "",
            "message": "",
            "ip": status.get("pod_ip", ""),
            "ready": status.get("ready", False),
            # The caller keeps the pod: its readiness gates and the rest of its manifest are the caller's.
            "ready_reason": "",
            "ready_message": "",
            "ignored": [],
            "foreign_listeners": [],
            "containers": rows,
        }

    def configz(self) -> Mapping[str, Any]:
        """The effective configuration."""
        return self._configuration

    def events(self, since: int) -> list[RecordedEvent]:
        """Always empty: events go to ``WatchEvents`` alone."""
        return []

    @property
    def incidents(self) -> None:
        """None: whose pods belong together is known to the caller."""
        return

    def metrics(self) -> bytes:
        """The page ``/metrics``: the engine's series and the service's own."""
        dropped = render_dropped(self._host.batches.events_dropped)
        return b"".join((self._engine.metrics(), render(self._pods), dropped, render_process()))

    def metrics_pods(self) -> bytes:
        """Always empty: the caller restarts containers and counts that."""
        return b""

    def metrics_probes(self) -> bytes:
        """The page ``/metrics/probes``: the kubelet's series."""
        return self._engine.metrics_probes()

    def ready(self) -> tuple[bool, str]:
        """Always ready: the socket is open for as long as the pages are."""
        return True, ""


def _container(row: dict[str, Any], kind: str, probed: list[WorkerState]) -> ContainerDocument:
    return {
        "name": row["name"],
        "kind": kind,
        "container_id": row.get("id", ""),
        "state": row["state"],
        "reason": "",
        "message": "",
        "exit_code": row.get("exit_code"),
        "restart_count": 0,
        "ready": row["ready"],
        "started": bool(row.get("started")),
        "last_exit": None,
        "backoff": None,
        "probes": {worker.type: probe_document(worker) for worker in probed if worker.container == row["name"]},
    }


def render_dropped(events: int) -> bytes:
    """The events that no caller gets, with the name that they have on the pages of ``run``."""
    text = "Events that were not kept, by what dropped them."
    return page(counter("probelet_events_dropped_total", text, [("engine", events)], "by"))


def render(pods: HandedOverPods) -> bytes:
    """The service's own series for ``/metrics``."""
    results = pods.results
    return page(
        gauge("probelet_pods_handed_over", "Pods of other node agents that are probed here.", pods.pods),
        gauge("probelet_results_cached", "Results that callers can ask for.", len(results.all())),
        counter("probelet_results_changes_total", "Changes of results.", results.sequence),
        counter(
            "probelet_results_resets_total", "Times a reader was too slow and given everything again.", results.resets
        ),
        () if pods.exec_counts is None else pods.exec_counts.series(),
    )
