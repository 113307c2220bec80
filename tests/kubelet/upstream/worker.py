"""One worker of the production prober in virtual time: our counterpart of upstream's ``newTestWorker``."""

from typing import Any, Literal

import msgspec
from probelet._rust import Simulation

ProbeType = Literal["liveness", "readiness", "startup"]

TYPES: tuple[ProbeType, ...] = ("liveness", "readiness", "startup")
FIELDS = {"liveness": "livenessProbe", "readiness": "readinessProbe", "startup": "startupProbe"}
INITIAL = {"liveness": "Success", "readiness": "Failure", "startup": "Unknown"}
"""The result of a new container before its first run (worker.go:newWorker, 1.36)."""

CONTAINER = "test-container"
ID = "test://test-container-id"
OTHER_ID = "test://another-container-id"
UID = "test-uid"

HOUR_MS = 3_600_000


def exec_probe(**fields: Any) -> dict[str, Any]:
    """Upstream's test probe with its defaults, changed by ``fields``."""
    figures = {"timeoutSeconds": 1, "periodSeconds": 1, "successThreshold": 1, "failureThreshold": 1}
    return {"exec": {"command": ["probe"]}, **figures, **fields}


def pod(uid: str = UID, *, deleting: bool = False, **spec: Any) -> bytes:
    """A pod as JSON, whose name is its UID."""
    metadata = {"uid": uid, "name": uid, "namespace": "test-namespace"}
    if deleting:
        metadata["deletionTimestamp"] = "1970-01-01T00:00:00Z"
    return msgspec.json.encode({"metadata": metadata, "spec": {"restartPolicy": "Never", **spec}})


def steps(*outcomes: str) -> bytes:
    """A script whose answers take no time; ``failure*3`` means three failures."""
    listed = []
    for outcome in outcomes:
        word, _, repeat = outcome.partition("*")
        listed.append({"outcome": word, "repeat": int(repeat or 1), "delay_ms": 0})
    return msgspec.json.encode(listed)


class Worker:
    """A worker of one probe type, and the pod status that it reads."""

    def __init__(
        self,
        probe_type: ProbeType,
        *,
        version: str = "1.36",
        probe: dict[str, Any] | None = None,
        container: dict[str, Any] | None = None,
        beside: tuple[dict[str, Any], ...] = (),
        sidecar: bool = False,
        policy: str = "Never",
        deleting: bool = False,
    ) -> None:
        self.type = probe_type
        self.simulation = Simulation(kubelet_version=version, glue="none", warmup_ms=HOUR_MS)
        self.probe = exec_probe(**(probe or {}))
        body = {"name": CONTAINER, FIELDS[probe_type]: self.probe, **(container or {})}
        if sidecar:
            spec: dict[str, Any] = {"initContainers": [{**body, "restartPolicy": "Always"}], "containers": [*beside]}
        else:
            spec = {"containers": [body, *beside]}
        self.list = "init_containers" if sidecar else "containers"
        self.simulation.define_pod(pod(deleting=deleting, restartPolicy=policy, **spec))
        self.handler("success")
        self.records: list[dict[str, Any]] = []
        self._added = False

    def handler(self, *outcomes: str) -> None:
        """Sets the answers of the handler from now on; the last one repeats."""
        self.simulation.script(f"{UID}/{CONTAINER}/{self.type}", steps(*outcomes))

    def status(
        self,
        state: str = "running",
        *,
        phase: str = "Running",
        started: bool | None = None,
        started_at_ms: int = 0,
        container_id: str = ID,
        name: str = CONTAINER,
        beside: tuple[dict[str, Any], ...] = (),
        **fields: Any,
    ) -> None:
        """Sets the pod's status. ``started`` is by default true, but false for a startup probe."""
        if started is None:
            started = self.type != "startup"
        container = {"name": name, "id": container_id, "state": state, "started": started, **fields}
        if state == "running":
            container["started_at_ms"] = started_at_ms
        self.simulation.set_pod_status(
            UID, msgspec.json.encode({"phase": phase, "pod_ip": "127.0.0.1", self.list: [container, *beside]})
        )

    def do_probe(self) -> bool:
        """Runs the worker's first pass or that of the next tick; returns False if the worker ended (``keepGoing``)."""
        if self._added:
            self.simulation.run_until(self.simulation.now_ms + 1000 * self.probe["periodSeconds"])
        else:
            self.simulation.add_pod(UID)
            self.simulation.settle()
            self._added = True
        self.records += msgspec.json.decode(self.simulation.take_records())
        return self.alive

    def after(self, *outcomes: str) -> list[str | None]:
        """Runs a pass for each of ``outcomes``; returns the cached result after each pass."""
        cached = []
        for outcome in outcomes:
            self.handler(outcome)
            assert self.do_probe()
            cached.append(self.cached)
        return cached

    @property
    def alive(self) -> bool:
        return (UID, CONTAINER, self.type) in self.simulation.workers()

    @property
    def cached(self) -> str | None:
        return self.simulation.result(self.type, ID)

    @property
    def published(self) -> list[str]:
        """Every result that the worker has set, also one that the cache had already."""
        return [line["result"] for line in self.records if line["section"] == "results" and line["op"] == "set"]

    @property
    def runs(self) -> int:
        """How often the handler was called."""
        return sum(line["section"] == "probes" for line in self.records)
