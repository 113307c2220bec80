"""The differences between releases (rust/core/src/semantics.rs), for each row in each release.

1.34 to 1.37 are recorded; 1.38 is inferred from the changes that each row names.
"""

from typing import Any

import msgspec
import pytest

from tests.kubelet.upstream.manager import Manager, container, running
from tests.kubelet.upstream.prober.test_manager import met_again
from tests.kubelet.upstream.worker import HOUR_MS, INITIAL, TYPES, UID, ProbeType, Worker

VERSIONS = ("1.34", "1.35", "1.36", "1.37", "1.38")
OLD_MS = -HOUR_MS - 300_000
"""A start time before the prober's own start."""


def each_version(row: str, what: str, *expected: Any) -> list[Any]:
    """One case per version; ``expected`` has a value for each of ``VERSIONS``."""
    cases = zip(VERSIONS, expected, strict=True)
    return [pytest.param(version, value, id=f"{row}-{version}-{what}") for version, value in cases]


@pytest.mark.parametrize(
    ("version", "goes_on"), each_version("V1", "another container is probed", False, False, False, True, True)
)
def test_add_pod_goes_on_to_the_next_container_after_an_existing_worker(version: str, goes_on: bool) -> None:
    """kubernetes PR 138930."""
    assert ("pod/c/liveness" in met_again(version)) == goes_on
    assert "pod/b/liveness" not in met_again(version)


@pytest.mark.parametrize(("version", "answers"), each_version("V2", "exec readiness in shutdown", *[True] * 5))
def test_exec_probes_are_not_cancelled_with_the_sync(version: str, answers: bool) -> None:
    """kubernetes#140881, a bug of 1.35 and 1.36 that probelet does not copy."""
    manager = Manager(version=version)
    manager.define("pod", [container("main", "readiness")])
    manager.status("pod", running("main", started=True))
    manager.add("pod")
    manager.simulation.stop_liveness_and_startup("pod")
    assert manager.attempts == [(0, "pod/main/readiness")]
    manager.run(2)
    assert (manager.attempts == [(t_ms, "pod/main/readiness") for t_ms in (1_000, 2_000)]) == answers


@pytest.mark.parametrize(("version", "stopped"), each_version("V3", "sidecars", False, False, False, False, True))
def test_stop_liveness_and_startup_ends_the_workers_of_sidecars(version: str, stopped: bool) -> None:
    """kubernetes PR 141766."""
    manager = Manager(version=version)
    manager.define("pod", [], initContainers=[container("sidecar", *TYPES, restartPolicy="Always")])
    manager.add("pod")
    manager.simulation.stop_liveness_and_startup("pod")
    manager.simulation.settle()
    assert ("pod/sidecar/liveness" not in manager.workers) == stopped
    assert ("pod/sidecar/startup" not in manager.workers) == stopped
    assert "pod/sidecar/readiness" in manager.workers


@pytest.mark.parametrize(
    ("version", "started"), each_version("V4", "replaced within a sync", False, True, True, True, False)
)
def test_a_container_replaced_within_a_sync_keeps_started(version: str, started: bool) -> None:
    """kubernetes#141155 and PR 141342."""
    manager = Manager(version=version, glue="kubelet")
    manager.define("pod", [container("main", "startup")])
    manager.sync("pod")
    assert not manager.sync("pod", running("main", "test://1"))["containers"][0]["started"]
    manager.run(1)
    assert manager.sync("pod", running("main", "test://1"))["containers"][0]["started"]
    manager.answer("pod/main/startup", "failure")
    assert manager.sync("pod", running("main", "test://2"))["containers"][0]["started"] == started


@pytest.mark.parametrize("probe_type", TYPES)
@pytest.mark.parametrize(
    ("version", "published"), each_version("V5", "older than the prober", True, False, False, False, False)
)
def test_a_worker_publishes_the_initial_result_of_an_old_container(
    version: str, published: bool, probe_type: ProbeType
) -> None:
    """KEP-4781."""
    worker = Worker(probe_type, version=version, probe={"initialDelaySeconds": 3 * HOUR_MS // 1000})
    worker.status(started_at_ms=OLD_MS)
    worker.do_probe()
    assert worker.published == ([INITIAL[probe_type]] if published else [])


@pytest.mark.parametrize(
    ("version", "published"),
    each_version("V5", "started sidecar's startup probe", ["Unknown"], *[["Success"]] * 4),
)
def test_the_startup_worker_of_a_started_sidecar_publishes_success(version: str, published: list[str]) -> None:
    """kubernetes PR 137146."""
    worker = Worker("startup", version=version, sidecar=True)
    worker.status(started=True, started_at_ms=OLD_MS)
    worker.do_probe()
    assert worker.published == published


@pytest.mark.parametrize(("version", "kept"), each_version("V5", "ready", False, True, True, True, True))
def test_a_ready_pod_stays_ready_over_a_kubelet_restart(version: str, kept: bool) -> None:
    """KEP-4781: the API server says Ready, no probe has run yet."""
    manager = Manager(version=version)
    manager.simulation.define_pod(ready_pod())
    manager.add(UID)
    filled = manager.update(UID, running("main", started_at_ms=OLD_MS, started=True))
    assert filled["main"]["ready"] == kept


def ready_pod() -> bytes:
    spec = {"containers": [container("main", "readiness")]}
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    return msgspec.json.encode({"metadata": {"uid": UID, "name": UID}, "spec": spec, "status": status})


def survives(version: str, exit_code: int, **options: Any) -> bool:
    worker = Worker("liveness", version=version, **options)
    worker.status("terminated", exit_code=exit_code)
    return worker.do_probe()


@pytest.mark.parametrize(
    ("version", "goes_on"), each_version("V10", "own OnFailure, exit 1", False, True, True, True, True)
)
def test_a_worker_goes_on_if_the_containers_own_policy_restarts_it(version: str, goes_on: bool) -> None:
    """KEP-5307: 1.34 uses the pod's policy, which is Never."""
    assert survives(version, 1, container={"restartPolicy": "OnFailure"}) == goes_on


@pytest.mark.parametrize(
    ("version", "goes_on"), each_version("V10", "pod OnFailure, exit 0", True, False, False, False, False)
)
def test_a_worker_ends_with_a_completed_container_of_an_on_failure_pod(version: str, goes_on: bool) -> None:
    assert survives(version, 0, policy="OnFailure") == goes_on


@pytest.mark.parametrize(("version", "goes_on"), each_version("V10", "sidecar of a Never pod", *[True] * 5))
def test_a_worker_outlives_a_terminated_sidecar(version: str, goes_on: bool) -> None:
    assert survives(version, 0, sidecar=True) == goes_on


@pytest.mark.parametrize(
    ("version", "goes_on"), each_version("V10", "RestartAllContainers", False, False, True, True, True)
)
def test_a_worker_goes_on_if_a_rule_restarts_all_containers(version: str, goes_on: bool) -> None:
    """KEP-5532, on by default since 1.36."""
    rules = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
    own = {"restartPolicy": "Never", "restartPolicyRules": rules}
    assert survives(version, 1, container=own) == goes_on
    beside = {"name": "trigger", **own}
    worker = Worker("liveness", version=version, beside=(beside,))
    ended = {"name": "trigger", "id": "test://trigger", "state": "terminated", "exit_code": 1}
    worker.status("terminated", exit_code=1, beside=(ended,))
    assert worker.do_probe() == goes_on


@pytest.mark.parametrize(("version", "holds"), each_version("V11", "startup success", *[True] * 5))
def test_a_startup_success_stays_after_a_failure(version: str, holds: bool) -> None:
    """kubernetes PR 121206."""
    worker = Worker("startup", version=version)
    worker.status()
    assert worker.after("success", "failure") == ["Success", "Success" if holds else "Failure"]


@pytest.mark.parametrize(("version", "next_ms"), each_version("V12", "next tick", *[13_000] * 5))
def test_a_manual_trigger_resets_the_ticker(version: str, next_ms: int) -> None:
    manager = Manager(version=version)
    probed = container("main", "readiness")
    probed["readinessProbe"]["periodSeconds"] = 10
    manager.define("pod", [probed])
    manager.answer("pod/main/readiness", "failure")
    manager.status("pod", running("main", started=True))
    manager.add("pod")
    manager.run(3)
    manager.update("pod", running("main", started=True))
    manager.run(11)
    assert [t_ms for t_ms, _ in manager.attempts] == [0, 3_000, next_ms]
