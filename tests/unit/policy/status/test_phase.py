"""The phase of a pod: getPhase, case by case."""

from typing import Any

import pytest
from probelet.policy.rules.kind import Kind
from probelet.policy.status.container_status import ContainerStatus, LastExit
from probelet.policy.status.phase import pod_phase
from probelet.spec.model.pod import Pod

from tests.unit.policy.rig import make_pod

RUNNING: dict[str, Any] = {"state": "running"}
CREATING: dict[str, Any] = {"state": "waiting", "reason": "ContainerCreating"}
OK: dict[str, Any] = {"state": "terminated", "exit_code": 0}
BAD: dict[str, Any] = {"state": "terminated", "exit_code": 3}
BACK_OFF: dict[str, Any] = {"state": "waiting", "reason": "CrashLoopBackOff", "last_exit": LastExit(0, 3, "Error")}


def phase(
    pod: Pod, terminal: bool = False, initialized: bool = True, started: bool = True, **states: dict[str, Any]
) -> str:
    kinds: dict[str, Kind] = {c.name: "init" for c in pod.spec.init_containers}
    statuses = {name: ContainerStatus(name, kinds.get(name, "regular"), **state) for name, state in states.items()}
    return pod_phase(pod, statuses, terminal=terminal, initialized=initialized, started=("side",) if started else ())


@pytest.mark.parametrize(
    ("policy", "a", "b", "expected"),
    [
        ("Always", RUNNING, RUNNING, "Running"),
        ("Always", RUNNING, CREATING, "Pending"),
        ("Always", RUNNING, BAD, "Running"),
        ("Always", RUNNING, BACK_OFF, "Running"),
        ("Always", BACK_OFF, BACK_OFF, "Running"),
        ("Always", OK, OK, "Running"),
        ("OnFailure", OK, OK, "Succeeded"),
        ("OnFailure", OK, BAD, "Running"),
        ("OnFailure", OK, RUNNING, "Running"),
        ("Never", OK, OK, "Succeeded"),
        ("Never", OK, BAD, "Failed"),
        ("Never", OK, RUNNING, "Running"),
    ],
)
def test_regular_containers_decide(policy: str, a: Any, b: Any, expected: str) -> None:
    assert phase(make_pod({"name": "a"}, {"name": "b"}, restartPolicy=policy), a=a, b=b) == expected


def test_a_container_without_a_status_keeps_the_pod_pending() -> None:
    assert phase(make_pod({"name": "a"}, {"name": "b"}), a=RUNNING) == "Pending"


def test_the_exits_of_an_ended_pod_decide_its_phase_whatever_its_policy() -> None:
    pod = make_pod({"name": "a"}, {"name": "b"})
    assert phase(pod, terminal=True, a=OK, b=OK) == "Succeeded"
    assert phase(pod, terminal=True, a=OK, b=BAD) == "Failed"
    assert phase(pod, terminal=True, a=BACK_OFF, b=OK) == "Failed"


@pytest.mark.parametrize(
    ("policy", "setup", "app", "expected"),
    [
        ("Always", RUNNING, CREATING, "Pending"),
        ("Always", BAD, CREATING, "Pending"),
        ("Always", BACK_OFF, CREATING, "Pending"),
        ("Never", BAD, CREATING, "Failed"),
        ("Never", OK, CREATING, "Pending"),
        ("Always", OK, RUNNING, "Running"),
    ],
)
def test_init_containers_hold_the_pod_back_or_fail_it(policy: str, setup: Any, app: Any, expected: str) -> None:
    pod = make_pod(init=[{"name": "setup"}], restartPolicy=policy)
    assert phase(pod, setup=setup, app=app) == expected


def test_a_sidecar_that_has_not_started_holds_back_only_a_pod_that_never_was_initialised() -> None:
    pod = make_pod(init=[{"name": "side", "restartPolicy": "Always"}])
    assert phase(pod, side=RUNNING, app=RUNNING, started=False, initialized=False) == "Pending"
    assert phase(pod, side=RUNNING, app=RUNNING, started=False, initialized=True) == "Running"
    assert phase(pod, side=BAD, app=RUNNING) == "Running"


def test_the_exit_of_a_sidecar_does_not_change_the_phase() -> None:
    pod = make_pod(init=[{"name": "side", "restartPolicy": "Always"}], restartPolicy="Never")
    assert phase(pod, side=BAD, app=OK) == "Succeeded"


def test_a_sidecar_that_runs_keeps_a_pod_running_after_its_containers() -> None:
    pod = make_pod(init=[{"name": "side", "restartPolicy": "Always"}], restartPolicy="Never")
    assert phase(pod, side=RUNNING, app=OK) == "Running"
