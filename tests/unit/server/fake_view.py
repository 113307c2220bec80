"""A view that holds one container in each situation, for the real server and the real client."""

import asyncio
import copy
from collections.abc import Callable
from typing import Any

from probelet.server.control.command import NoSuchPodError
from probelet.server.status import Status

AS_OF = "2026-11-21T14:02:11.000Z"


def last(outcome: str = "success", message: str = "", *, at: str = "2026-11-21T14:02:01.000Z") -> dict[str, Any]:
    cause = "ok" if outcome == "success" else "status"
    return {
        "at": at,
        "outcome": outcome,
        "cause": cause,
        "message": message,
        "duration_ms": 1.25,
        "lateness_ms": 0.04,
        "overdue_ms": 0,
    }


def probe(**changes: Any) -> dict[str, Any]:
    return {
        "handler": "httpGet",
        "result": "Success",
        "result_run": 5,
        "failure_threshold": 3,
        "success_threshold": 1,
        "on_hold": False,
        "runs": 12,
        "failures": 0,
        "errors": 0,
        "next_at": "2026-11-21T14:02:21.000Z",
        "last": last(),
        "beats": "." * 12,
        **changes,
    }


def container(name: str = "app", **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "regular",
        "container_id": f"probelet://{name}-0",
        "state": "running",
        "reason": "",
        "message": "",
        "exit_code": None,
        "restart_count": 0,
        "ready": True,
        "started": True,
        "last_exit": None,
        "backoff": None,
        "probes": {},
        **changes,
    }


def pod(name: str, *containers: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "namespace": "default",
        "name": name,
        "uid": f"uid-{name}",
        "phase": "Running",
        "ip": "127.8.0.1",
        "ready": all(found["ready"] for found in containers),
        "ready_reason": "",
        "ready_message": "",
        "ignored": [],
        "foreign_listeners": [],
        "containers": list(containers),
        **changes,
    }


def document(*pods: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"schema": "probelet-status/1", "as_of": AS_OF, "node": "node-a", "pods": list(pods), **changes}


def event(
    seq: int, reason: str = "Unhealthy", message: str = "Liveness probe failed: ", **changes: Any
) -> dict[str, Any]:
    return {
        "seq": seq,
        "schema": "probelet-event/1",
        "at": "2026-11-21T14:02:01.000Z",
        "type": "Normal" if reason in ("Started", "Killing") else "Warning",
        "reason": reason,
        "message": message,
        "object": "default/web",
        "field_path": "spec.containers{app}",
        "count": 1,
        **changes,
    }


FAILED = last("failure", "HTTP probe failed with statuscode: 500")
CRASHED = {"at": "2026-11-21T14:01:59.000Z", "exit_code": 1, "reason": "Error", "message": ""}

SITUATIONS = document(
    pod("web", container(probes={"liveness": probe(), "readiness": probe(), "startup": probe()})),
    pod(
        "deadlock",
        container(
            ready=False,
            restart_count=2,
            probes={
                "liveness": probe(result="Success", result_run=2, last=FAILED, failures=2),
                "readiness": probe(result="Failure", result_run=3, last=FAILED, failures=7),
            },
        ),
    ),
    pod(
        "crasher",
        container(
            state="waiting",
            reason="CrashLoopBackOff",
            ready=False,
            started=False,
            restart_count=3,
            last_exit=CRASHED,
            backoff={"delay_seconds": 40, "step": 2, "due_at": "2026-11-21T14:02:39.000Z"},
        ),
    ),
    pod(
        "slow-starter",
        container(
            ready=False,
            started=False,
            probes={
                "liveness": probe(result="Success", last=None, runs=0),
                "startup": probe(
                    result="Unknown",
                    result_run=4,
                    failure_threshold=30,
                    last=last(
                        "failure", 'Get "http://127.8.0.4:8080/healthz": dial tcp 127.8.0.4:8080: connect: refused'
                    ),
                ),
            },
        ),
    ),
    pod(
        "two",
        container("app", probes={"readiness": probe(result="Failure", result_run=1, success_threshold=3)}),
        container("proxy", kind="sidecar", probes={"liveness": probe(handler="tcpSocket")}),
        container("migrate", kind="init", state="terminated", reason="Completed", exit_code=0, ready=False),
    ),
    pod(
        "job",
        container(state="terminated", reason="Error", exit_code=137, message="Killed", ready=False),
        phase="Failed",
    ),
)


class FakeIncidents:
    """Incidents that a test sets."""

    is_on = True

    def __init__(self, *open: dict[str, Any]) -> None:
        self.open = list(open)
        self.ended: list[dict[str, Any]] = []
        self.kept: list[dict[str, Any]] = []

    @property
    def last_change(self) -> int:
        return len(self.kept)

    def document(self) -> dict[str, Any]:
        return {"schema": "probelet-incidents/1", "as_of": AS_OF, "node": "n1", "open": self.open, "ended": self.ended}

    def changes(self, since: int) -> list[dict[str, Any]]:
        return [found for found in self.kept if found["seq"] > since]

    def change(self, change: str, incident: dict[str, Any]) -> None:
        seq = len(self.kept) + 1
        self.kept.append(
            {"schema": "probelet-incident/1", "at": AS_OF, "change": change, "incident": incident, "seq": seq}
        )


def incident(**changes: Any) -> dict[str, Any]:
    return {
        "id": "1",
        "kind": "shared",
        "since": "2026-11-21T14:01:59.000Z",
        "ended": None,
        "shared": "target",
        "value": "db:5432",
        "cause": "timeout",
        "evidence": "3 of 3 pods that ask db:5432 fail (timeout)",
        "counts": {"pods": 3, "containers": 3, "probes": 3, "workloads": 3, "nodes": 1},
        "killed": 2,
        "killed_for_nothing": 2,
        "affected": ["default/cart/app"],
        **changes,
    }


class FakeView:
    """Answers from the values a test sets; ``asked`` is set at the first request for events."""

    def __init__(self, status: dict[str, Any] = SITUATIONS) -> None:
        self.document = status
        self.kept: list[dict[str, Any]] = []
        self.feed: FakeIncidents | None = None
        self.why_not_ready = ""
        self.history = 0
        self.asked = asyncio.Event()
        self.logs_of: dict[str, dict[str, Any] | Callable[[], dict[str, Any]]] = {}
        self.commands: list[tuple[str, str, str | None]] = []

    def status(self, history: int = 0, pod: str = "") -> Status:
        self.history = history
        head = copy.deepcopy(self.document)
        pods = head.pop("pods")
        return Status(head, (found for found in pods if pod in ("", f"{found['namespace']}/{found['name']}")))

    def configz(self) -> dict[str, Any]:
        return {"schema": "probelet-config/1", "featureGates": {}}

    def events(self, since: int) -> list[dict[str, Any]]:
        self.asked.set()
        return [found for found in self.kept if found["seq"] > since]

    def logs(self, pod: str) -> dict[str, Any]:
        found = self.logs_of.get(pod.rpartition("/")[2])
        if found is None:
            raise NoSuchPodError(f'there is no pod "{pod}"')
        return found() if callable(found) else found

    def retry(self, pod: str, container: str | None) -> list[str]:
        return self._command("retry", pod, container)

    def reset(self, pod: str, container: str | None) -> list[str]:
        return self._command("reset", pod, container)

    def _command(self, name: str, pod: str, container: str | None) -> list[str]:
        if pod != "crasher":
            raise NoSuchPodError(f'there is no pod "{pod}"')
        self.commands.append((name, pod, container))
        return [] if container == "calm" else ["app"]

    @property
    def incidents(self) -> FakeIncidents | None:
        return self.feed

    def metrics(self) -> bytes:
        return b"# TYPE probelet_workers gauge\nprobelet_workers 3\n"

    def metrics_pods(self) -> bytes:
        return b"# TYPE kube_pod_created gauge\n"

    def metrics_probes(self) -> bytes:
        return b"# TYPE prober_probe_total counter\n"

    def ready(self) -> tuple[bool, str]:
        return not self.why_not_ready, self.why_not_ready
