"""kubernetes test/e2e_node/container_lifecycle_test.go and KEP-4781's tests in virtual time: rows Y1 to Y6."""

from typing import Any

import msgspec
import pytest

from tests.kubelet.upstream.manager import Manager, container, running
from tests.kubelet.upstream.node import Life, OnePodNode, always, make_pod, until
from tests.kubelet.upstream.row import row
from tests.kubelet.upstream.worker import UID, ProbeType, pod

SLEEPY = {"lifecycle": {"preStop": {"exec": {"command": ["sleep"]}}}}
STUBBORN = {"app": 1e9}


def probe(delay: int = 0, period: int = 10, threshold: int = 1) -> dict[str, Any]:
    figures = {"initialDelaySeconds": delay, "periodSeconds": period, "failureThreshold": threshold}
    return {"exec": {"command": ["probe"]}, **figures}


@pytest.mark.parametrize(
    "probe_type", [pytest.param("startup", id="Y1-startup"), pytest.param("liveness", id="Y2-liveness")]
)
def test_the_pre_stop_hook_runs_while_the_container_that_failed_its_probe_still_runs(probe_type: ProbeType) -> None:
    app = {"name": "app", f"{probe_type}Probe": probe(delay=10), **SLEEPY}
    node = OnePodNode(
        make_pod(app, restartPolicy="Never", terminationGracePeriodSeconds=30),
        {f"app/{probe_type}": always("failure")},
        hook_takes={"app/preStop": 1},
    )
    node.run_until(120)
    ((hook_at, _),) = node.hooks
    ((killed_at, kill),) = node.kills
    ((ended_at, _),) = node.ends
    assert (killed_at - hook_at, kill.grace_seconds) == (1, 29), "the hook's second counts towards the grace"
    assert hook_at < killed_at <= ended_at
    # Under Never nothing is left to run, so the kubelet ends the pod instead of killing the container for its probe.
    assert node.killing() == ["Stopping container app"]
    assert (node.machine.phase, node.restarts("app")) == ("Failed", 0)


@row("Y3")
def test_during_pre_stop_liveness_is_on_hold_and_readiness_goes_on(row: str) -> None:
    app = {"name": "app", "livenessProbe": probe(10, period=1), "readinessProbe": probe(1, period=1), **SLEEPY}
    node = OnePodNode(
        make_pod(app, restartPolicy="Never", terminationGracePeriodSeconds=100),
        {"app/liveness": always("failure")},
        hook_takes={"app/preStop": 10},
    )
    node.run_until(120)
    ((hook_at, _),) = node.hooks
    during = [worker for at, worker in node.attempts if hook_at < at < hook_at + 10]
    assert during == ["app/readiness"] * len(during)
    assert len(during) >= 9
    assert len(node.ran("app/liveness")) == 1


@row("Y4")
def test_a_sidecar_waits_for_the_kill_of_another_container(row: str) -> None:
    # The name of upstream's test says that the sidecar restarts meanwhile; its body asserts the opposite (KEP-4438).
    main = {"name": "main", "livenessProbe": probe(10, period=1), **SLEEPY}
    side = {"name": "side", "restartPolicy": "Always", "livenessProbe": probe(1, period=1)}
    node = OnePodNode(
        make_pod(main, init=[side], terminationGracePeriodSeconds=100),
        {"main/liveness": until(60, "failure", "success")},
        hook_takes={"main/preStop": 40},
    )
    while not node.hooks:
        node.run_until(node.now / 1_000_000_000 + 0.1)
    hook_at = node.hooks[0][0]
    node.answers["side/liveness"] = always("failure")
    node.run_until(hook_at + 39)
    assert [at > hook_at for at in node.ran("side/liveness")].count(True) == 1, "it fails once, then it is on hold"
    assert (node.restarts("side"), node.kills) == (0, [])
    node.run_until(hook_at + 45)
    assert node.restarts("main") == 1
    assert node.restarts("side") >= 1


@row("Y5")
def test_a_sidecar_starts_after_the_sidecar_before_it_has_started(row: str) -> None:
    def side(name: str) -> dict[str, Any]:
        return {"name": name, "restartPolicy": "Always", "startupProbe": probe(period=1, threshold=600)}

    def has_started(life: Life) -> str:
        return "success" if life.age >= 10 else "failure"

    node = OnePodNode(
        make_pod({"name": "main"}, init=[side("first"), side("second")], restartPolicy="Never"),
        {"first/startup": has_started, "second/startup": has_started},
    )
    node.run_until(60)
    starts = {name: at for at, name, _ in node.starts}
    started = {name: at for at, name, value in node.started_changes if value}
    assert list(starts) == ["first", "second", "main"]
    assert starts["first"] + 10 <= started["first"] < starts["second"]
    assert starts["second"] + 10 <= started["second"] < starts["main"]


@pytest.mark.parametrize(
    "types",
    [
        pytest.param((), id="Y6-no probe"),
        pytest.param(("startup",), id="Y6-startup"),
        pytest.param(("readiness",), id="Y6-readiness"),
        pytest.param(("startup", "readiness"), id="Y6-startup and readiness"),
    ],
)
def test_a_kubelet_restart_changes_neither_started_nor_ready(types: tuple[ProbeType, ...]) -> None:
    manager = Manager(glue="kubelet", warmup_ms=0)
    minute_old = running("main", started_at_ms=-60_000)
    api_ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    body = msgspec.json.decode(pod(containers=[container("main", *types)]))
    manager.simulation.define_pod(msgspec.json.encode({**body, "status": api_ready}))
    seen = []
    for _ in range(20):
        (shown,) = manager.sync(UID, minute_old)["containers"]
        manager.run(0.5)
        (later,) = manager.stored(UID)["containers"]
        seen += [(shown["started"], shown["ready"]), (later["started"], later["ready"])]
    assert seen == [(True, True)] * 40
    assert manager.attempts or not types or types == ("startup",)


@row("Y6-while a probe fails")
def test_after_a_kubelet_restart_only_the_threshold_makes_a_pod_unready(row: str) -> None:
    manager = Manager(glue="kubelet", warmup_ms=0)
    body = msgspec.json.decode(pod(containers=[container("main", "readiness")]))
    api_ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    manager.simulation.define_pod(msgspec.json.encode({**body, "status": api_ready}))
    manager.answer(f"{UID}/main/readiness", "failure")
    assert manager.sync(UID, running("main", started_at_ms=-60_000))["ready"]
    asked = 0
    while manager.stored(UID)["ready"]:
        manager.run(0.01)
        asked += len(manager.attempts)
    assert asked == 3
