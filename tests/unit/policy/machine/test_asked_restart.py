"""A requested restart uses the pod's grace, starts at once, and does not count as a crash."""

from probelet.policy.facts.snapshot import State
from probelet.policy.protocol.actions import Perform
from probelet.policy.protocol.effects import CreateContainer, StartContainer
from probelet.policy.protocol.inputs import Restart

from tests.unit.policy.rig import Rig, gate, make_pod

SAID = "Container app has run for 1h0m0s (maxContainerAge 1h0m0s)"
KILLED = ("Killing", f"{SAID}, will be restarted")


def ask(rig: Rig, container_id: str = "t://app-0") -> None:
    rig.handle(Restart(container_id, SAID))
    rig.settle()


def test_a_requested_restart_kills_with_the_pods_grace_and_starts_at_once() -> None:
    probe = {"exec": {"command": ["p"]}, "terminationGracePeriodSeconds": 5}
    rig = Rig(make_pod({"name": "app", "livenessProbe": probe}), kill_takes=7)
    rig.begin()
    rig.run_until(3600)
    ask(rig)
    rig.run_until(4000)
    [(at, kill)] = rig.kills
    assert (at, kill.grace_seconds, kill.grace_source, kill.reason) == (3600, 30, "pod", "MaxContainerAge")
    assert rig.starts == [(0, "app", 0), (3607, "app", 1)]
    assert rig.events.count(KILLED) == 1


def test_a_pre_stop_hook_runs_inside_the_grace() -> None:
    hook = {"preStop": {"exec": {"command": ["bye"]}}}
    rig = Rig(make_pod({"name": "app", "lifecycle": hook}), hook_takes={"app/preStop": 4})
    rig.begin()
    ask(rig)
    rig.run_until(100)
    assert [name for _, name in rig.hooks] == ["app/preStop"]
    assert rig.kills[0][1].grace_seconds == 26


def test_a_requested_restart_neither_waits_for_the_back_off_nor_doubles_it() -> None:
    table = gate()
    rig = Rig(make_pod(), table, dies_after={"app": 1})
    rig.begin()
    rig.run_until(12)
    # Two crashes: the first restart was free, the second waited ten seconds, so the third would wait twenty.
    assert [count for _, _, count in rig.starts] == [0, 1, 2]
    step = table.step(rig.pod, rig.pod.spec.containers[0])
    rig.dies_after = {}
    ask(rig, "t://app-2")
    rig.run_until(13)
    assert rig.starts[-1] == (12, "app", 3), "at once, though a crash would have waited"
    assert table.step(rig.pod, rig.pod.spec.containers[0]) == step


def test_the_next_crash_is_judged_by_its_own_exit() -> None:
    table = gate()
    rig = Rig(make_pod(), table)
    rig.begin()
    rig.run_until(1000)
    for count in range(3):
        ask(rig, f"t://app-{count}")
    assert table.entries(rig.now) == 0, "restarts for age leave nothing in the table"
    rig.at(1001, "exit", "t://app-3")
    rig.run_until(1002)
    assert rig.starts[-1] == (1001, "app", 4), "a first crash is free"


def test_a_container_that_crashes_before_its_requested_restart_counts_as_a_crash() -> None:
    table = gate()
    rig = Rig(make_pod({"name": "app"}, {"name": "slow"}), table, kill_takes={"slow": 20}, dies_after={"app": 5})
    rig.begin()
    rig.run_until(1)
    rig.handle(Restart("t://slow-0", SAID))
    rig.handle(Restart("t://app-0", SAID))
    rig.run_until(60)
    assert [kill.name for _, kill in rig.kills] == ["slow"]
    assert table.entries(rig.now) == 1, "the crash of app counted"


def test_a_start_that_fails_after_the_requested_kill_does_not_count_as_a_crash() -> None:
    table = gate()
    rig = Rig(make_pod(), table)
    rig.begin()
    rig.run_until(100)
    rig.fail[CreateContainer] = "no disk"
    ask(rig)
    rig.run_until(115)
    rig.fail.clear()
    rig.run_until(140)
    assert rig.starts[-1][1:] == ("app", 1)
    assert table.entries(rig.now) == 0


def test_the_start_names_age_as_its_cause_and_takes_no_second_token() -> None:
    table = gate(budget=(1, 3600 * 10**9))
    rig = Rig(make_pod(), table)
    rig.begin()
    rig.run_until(100)
    assert table.take(rig.now)
    ask(rig)
    rig.run_until(101)
    assert rig.starts[-1] == (100, "app", 1)
    starts = [e for a in rig.actions if isinstance(a, Perform) for e in a.effects if isinstance(e, StartContainer)]
    assert [start.cause for start in starts] == ["", "max_age"]


def test_a_sidecar_is_restarted_and_an_instance_that_has_ended_is_not() -> None:
    rig = Rig(make_pod({"name": "app"}, init=[{"name": "proxy", "restartPolicy": "Always"}]))
    rig.begin()
    ask(rig, "t://proxy-0")
    assert [kill.name for _, kill in rig.kills] == ["proxy"]
    ask(rig, "t://proxy-0")
    assert len(rig.kills) == 1
    assert all(record.state is State.RUNNING for record in rig.snapshot.containers[:1])
