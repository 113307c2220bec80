"""A prober with pods in virtual time: our counterpart of upstream's ``newTestManager``."""

from typing import Any

import msgspec
from probelet._rust import Simulation

from tests.kubelet.upstream.worker import FIELDS, HOUR_MS, TYPES, ProbeType, exec_probe, pod, steps


def container(name: str, *types: ProbeType, **fields: Any) -> dict[str, Any]:
    """A container with upstream's test probe for each of ``types``."""
    return {"name": name, **{FIELDS[each]: exec_probe(failureThreshold=3) for each in types}, **fields}


def running(name: str, container_id: str = "", **fields: Any) -> dict[str, Any]:
    """The status of a running container, or the runtime's fact of it."""
    known = {"name": name, "id": container_id or f"test://{name}_container_id", "state": "running", "started_at_ms": 0}
    return {**known, **fields}


def terminated(name: str, exit_code: int = 0, **fields: Any) -> dict[str, Any]:
    return {"name": name, "id": f"test://{name}_container_id", "state": "terminated", "exit_code": exit_code, **fields}


class Manager:
    """A simulation with shorter method names. A probe without an ``answer`` succeeds at once."""

    def __init__(self, *, version: str = "1.36", glue: str = "none", warmup_ms: int = HOUR_MS) -> None:
        self.simulation = Simulation(kubelet_version=version, glue=glue, warmup_ms=warmup_ms)

    def define(self, uid: str, containers: list[dict[str, Any]], **spec: Any) -> None:
        self.simulation.define_pod(pod(uid, containers=containers, **spec))
        for each in (*containers, *spec.get("initContainers", ())):
            for probe_type in TYPES:
                self.answer(f"{uid}/{each['name']}/{probe_type}", "success")

    def answer(self, worker: str, *outcomes: str) -> None:
        self.simulation.script(worker, steps(*outcomes))

    def add(self, uid: str) -> None:
        self.simulation.add_pod(uid)
        self.simulation.settle()

    def status(self, uid: str, *rows: dict[str, Any], init: tuple[dict[str, Any], ...] = ()) -> None:
        self.simulation.set_pod_status(uid, _status(rows, init))

    def update(self, uid: str, *rows: dict[str, Any], init: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
        """Calls UpdatePodStatus; returns each container's filled status by name."""
        filled = msgspec.json.decode(self.simulation.update_pod_status(uid, _status(rows, init)))
        return {row["name"]: row for row in (*filled["containers"], *filled["init_containers"])}

    def sync(self, uid: str, *rows: dict[str, Any], terminating: bool = False) -> dict[str, Any]:
        """Calls SyncPod or SyncTerminatingPod with the runtime's facts ``rows``; returns the status it stores."""
        sync = self.simulation.sync_terminating_pod if terminating else self.simulation.sync_pod
        sync(uid, _status(rows, ()))
        self.simulation.settle()
        return self.stored(uid)

    def stored(self, uid: str) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(self.simulation.status(uid) or b"{}")
        return found

    def run(self, seconds: float) -> None:
        self.simulation.run_until(self.simulation.now_ms + int(1000 * seconds))

    @property
    def workers(self) -> set[str]:
        return {"/".join(names) for names in self.simulation.workers()}

    @property
    def attempts(self) -> list[tuple[int, str]]:
        """(virtual ms, worker) of every attempt since the previous read."""
        lines = msgspec.json.decode(self.simulation.take_records())
        probes = [line for line in lines if line["section"] == "probes"]
        return [(line["t_ms"], f"{line['pod']}/{line['container']}/{line['type']}") for line in probes]


def _status(rows: tuple[dict[str, Any], ...], init: tuple[dict[str, Any], ...]) -> bytes:
    return msgspec.json.encode({"phase": "Running", "pod_ip": "127.0.0.1", "containers": rows, "init_containers": init})
