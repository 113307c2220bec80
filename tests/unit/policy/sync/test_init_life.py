"""Start of a pod: init containers in order, sidecars that keep running, restarts by policy and back-off."""

from typing import Any

import pytest
from msgspec.structs import replace
from probelet.policy.facts.snapshot import Snapshot, State
from probelet.policy.protocol.actions import Perform
from probelet.policy.protocol.effects import RemoveContainer
from probelet.policy.protocol.inputs import Observed, SyncRequested

from tests.unit.policy.rig import SECOND, Rig, gate, make_pod, record, sandbox

SETUP = [{"name": "one"}, {"name": "two"}]
SIDE = {"name": "side", "restartPolicy": "Always"}
STARTUP = {"exec": {"command": ["true"]}}


def run(pod: Any, until: float, **options: Any) -> Rig:
    rig = Rig(pod, **options)
    rig.begin()
    rig.run_until(until)
    return rig


def test_init_containers_run_one_after_the_other_and_then_all_regular_ones() -> None:
    rig = run(
        make_pod({"name": "a"}, {"name": "b"}, init=SETUP), 60, dies_after={"one": 5, "two": 7}, exit_code={"one": 0}
    )
    assert rig.starts == [(0, "one", 0), (5, "two", 0), (12, "a", 0), (12, "b", 0)]
    assert [publish.phase for publish in rig.published][-1] == "Running"
    assert {publish.phase for publish in rig.published[:-1]} == {"Pending"}
    assert rig.published[0].containers["a"].reason == "PodInitializing"


def test_no_other_container_starts_while_an_init_container_waits_for_the_budget() -> None:
    rig = Rig(make_pod(init=SETUP), gate(10, 300, budget=(1, 1_000 * SECOND)), dies_after={"one": 0}, exit_code=1)
    rig.begin()
    rig.run_until(900)
    assert {name for _, name, _ in rig.starts} == {"one"}
    assert rig.machine.waits["one"].delay_ns == 0


@pytest.mark.parametrize("policy", ["Always", "OnFailure"])
def test_a_failing_init_container_restarts_with_back_off_and_no_other_container_starts(policy: str) -> None:
    rig = run(make_pod(init=SETUP, restartPolicy=policy), 45, dies_after={"one": 1}, exit_code=1)
    assert rig.starts == [(0, "one", 0), (1, "one", 1), (12, "one", 2), (33, "one", 3)]
    status = rig.published[-1].containers["one"]
    assert (status.state, status.reason) == ("waiting", "CrashLoopBackOff")
    assert rig.machine.phase == "Pending"


def test_under_never_a_failing_init_container_fails_the_pod() -> None:
    rig = run(make_pod(init=SETUP, restartPolicy="Never"), 60, dies_after={"one": 1}, exit_code=3)
    assert rig.starts == [(0, "one", 0)]
    assert rig.machine.phase == "Failed"
    assert rig.published[-1].containers["two"].reason == "PodInitializing"


def test_an_init_container_may_have_a_policy_of_its_own() -> None:
    stubborn = [{"name": "one", "restartPolicy": "OnFailure"}, {"name": "two"}]
    pod = make_pod(init=stubborn, restartPolicy="Never")
    rig = Rig(pod, dies_after={"one": 1, "two": 1}, exit_code={"one": 1})
    rig.begin()
    rig.run_until(1.5)
    rig.exit_code = 0
    rig.run_until(20)
    assert rig.starts == [(0, "one", 0), (1, "one", 1), (2, "two", 0), (3, "app", 0)]


def test_a_regular_container_that_restarts_does_not_repeat_its_init_containers() -> None:
    rig = run(make_pod(init=SETUP), 30, dies_after={"one": 1, "two": 1, "app": 5}, exit_code=0)
    assert [name for _, name, _ in rig.starts] == ["one", "two", "app", "app", "app"]


def test_a_new_sandbox_runs_the_init_containers_again() -> None:
    rig = run(make_pod(init=SETUP), 10, dies_after={"one": 1, "two": 1}, exit_code=0)
    assert [name for _, name, _ in rig.starts] == ["one", "two", "app"]
    rig.snapshot = replace(rig.snapshot, sandboxes=(replace(sandbox(), ready=False),))
    rig.handle(Observed(rig.snapshot))
    rig.run_until(11.5)
    removed = [e.name for a in rig.actions if isinstance(a, Perform) for e in a.effects if type(e) is RemoveContainer]
    assert removed[:2] == ["two", "one"]
    rig.run_until(30)
    assert rig.starts[3:] == [(10, "one", 1), (11, "two", 1), (12, "app", 1)]


# Sidecars.


def test_a_sidecar_keeps_running_and_the_next_container_starts_as_soon_as_the_sidecar_runs() -> None:
    rig = run(make_pod(init=[SETUP[0], SIDE, SETUP[1]]), 60, dies_after={"one": 2, "two": 3}, exit_code=0)
    assert rig.starts == [(0, "one", 0), (2, "side", 0), (2, "two", 0), (5, "app", 0)]
    assert rig.snapshot.newest("side") is not None
    assert {record.name for record in rig.snapshot.running()} == {"side", "app"}


def test_the_next_container_waits_for_a_sidecars_startup_probe() -> None:
    rig = run(make_pod(init=[{**SIDE, "startupProbe": STARTUP}, SETUP[0]]), 5)
    assert [name for _, name, _ in rig.starts] == ["side"]
    rig.results.values["startup", "t://side-0"] = "Unknown"
    rig.run_until(6)
    assert [name for _, name, _ in rig.starts] == ["side"]
    rig.results.values["startup", "t://side-0"] = "Success"
    rig.handle(SyncRequested())
    rig.settle()
    assert [name for _, name, _ in rig.starts] == ["side", "one"]


def test_a_container_of_the_old_sandbox_makes_no_pod_initialised_in_the_new_one() -> None:
    pod = make_pod(init=[{**SIDE, "startupProbe": STARTUP}])
    rig = Rig(pod)
    rig.results.values["startup", "t://side-1"] = "Unknown"
    containers = (record(pod, "side", restart_count=1, sandbox_id="s1"), record(pod, "app", State.EXITED))
    rig.snapshot = Snapshot((sandbox(1), sandbox(0, ready=False)), containers)
    rig.begin()
    assert [publish.phase for publish in rig.published] == ["Pending"]


def test_a_sidecar_restarts_whatever_it_exits_with_and_whatever_the_pods_policy() -> None:
    for code in (0, 1):
        rig = run(make_pod(init=[SIDE], restartPolicy="Never"), 35, dies_after={"side": 1}, exit_code=code)
        assert [(when, count) for when, name, count in rig.starts if name == "side"] == [
            (0, 0),
            (1, 1),
            (12, 2),
            (33, 3),
        ]
        assert rig.machine.phase == "Running"


def test_a_sidecar_that_crashes_before_it_started_holds_up_the_pod_for_its_whole_back_off() -> None:
    side = {**SIDE, "startupProbe": STARTUP}
    rig = run(make_pod(init=[side]), 40, dies_after={"side": 1})
    assert {name for _, name, _ in rig.starts} == {"side"}
    assert rig.machine.phase == "Pending"


def test_a_sidecars_failed_probe_kills_and_restarts_it_with_the_probes_grace() -> None:
    side = {**SIDE, "livenessProbe": {"tcpSocket": {"port": 1}, "terminationGracePeriodSeconds": 5}}
    rig = run(make_pod(init=[side]), 10)
    rig.kill_takes = 99
    rig.probe_fails("liveness", "t://side-0")
    rig.run_until(30)
    (killed,) = [(when, kill.grace_seconds, kill.grace_source) for when, kill in rig.kills]
    assert killed == (10, 5, "probe")
    assert rig.events[-3:][0] == ("Killing", "Init container side failed liveness probe")
    assert rig.starts[-1] == (15, "side", 1)
    assert [record.restart_count for record in rig.snapshot.running() if record.name == "app"] == [0]
