"""A container's exit that restarts all containers of its pod (KEP-5532)."""

from typing import Any

from probelet.policy.protocol.actions import Perform
from probelet.policy.protocol.effects import KillContainer, RemoveContainer
from probelet.policy.protocol.inputs import Terminate
from probelet.policy.rules.grace import KillReason

from tests.unit.policy.rig import Rig, make_pod

RULE = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [88]}}
WATCHER = {"name": "watcher", "restartPolicy": "Never", "restartPolicyRules": [RULE]}
SIDE = {"name": "side", "restartPolicy": "Always"}
HOOK = {"lifecycle": {"preStop": {"exec": {"command": ["bye"]}}}}


def training(**options: Any) -> Rig:
    """A job beside a watcher that exits with 88 after ten seconds; an init container of one second runs first."""
    pod = make_pod({"name": "job", **HOOK}, WATCHER, init=[{"name": "setup"}, SIDE], restartPolicy="Never")
    dies = {"setup": 1, "watcher": 10}
    rig = Rig(pod, dies_after=dies, exit_code={"watcher": 88}, **options)
    rig.begin()
    return rig


def effects(rig: Rig) -> list[tuple[str, str]]:
    """Kills and removals in order."""
    kinds = (KillContainer, RemoveContainer)
    performed = [e for a in rig.actions if isinstance(a, Perform) for e in a.effects]
    return [(type(e).__name__[:4], e.name) for e in performed if isinstance(e, kinds)]


def test_all_containers_are_removed_in_reverse_order_and_the_pod_starts_anew_in_its_sandbox() -> None:
    rig = training()
    rig.run_until(11)
    assert effects(rig) == [
        ("Kill", "job"),
        ("Remo", "job"),
        ("Remo", "setup"),
        ("Kill", "side"),
        ("Remo", "side"),
        ("Remo", "watcher"),
    ]
    assert [(when, name) for when, name, _ in rig.starts] == [
        (0, "setup"), (1, "side"), (1, "job"), (1, "watcher"), (11, "setup"),
    ]  # fmt: skip
    rig.run_until(13)
    assert [(when, name) for when, name, _ in rig.starts[5:]] == [(12, "side"), (12, "job"), (12, "watcher")]
    assert len(rig.snapshot.sandboxes) == 1


def test_restarted_containers_are_killed_without_hook_or_grace_and_with_this_reason() -> None:
    rig = training(kill_takes=60)
    rig.run_until(20)
    assert [(kill.name, kill.reason, kill.grace_seconds) for _, kill in rig.kills] == [
        ("job", KillReason.RESTART_ALL, 2),
        ("side", KillReason.RESTART_ALL, 2),
    ]
    assert rig.hooks == []
    assert [message for reason, message in rig.events if reason == "Killing"] == ["killing", "killing"]


def test_statuses_show_the_restart_of_all_containers_and_the_pod_has_not_ended() -> None:
    rig = training()
    rig.run_until(11)
    restarting = next(p for p in rig.published if p.containers["job"].reason == "RestartingAllContainers")
    assert restarting.phase == "Running"
    for status in restarting.containers.values():
        assert (status.state, status.restart_count) == ("waiting", 1)
        assert status.last_exit is not None
        assert (status.last_exit.exit_code, status.last_exit.reason) == (137, "RestartingAllContainers")


def test_restart_counts_continue_after_the_containers_are_removed() -> None:
    rig = training()
    rig.run_until(13)
    assert {name: count for _, name, count in rig.starts} == {"setup": 1, "side": 1, "job": 1, "watcher": 1}


def test_the_logs_of_the_removed_containers_stay() -> None:
    rig = training()
    rig.run_until(13)
    groups = [action.effects for action in rig.actions if isinstance(action, Perform)]
    removals = [effect for group in groups for effect in group if isinstance(effect, RemoveContainer)]
    assert len(removals) == 4
    assert all(removal.keep_log for removal in removals)


def test_a_watcher_that_keeps_asking_is_delayed_as_a_crash_is() -> None:
    """The kubelet loses the exits with the removed containers, so it never delays this restart."""
    rig = Rig(make_pod(WATCHER, restartPolicy="Never"), dies_after={"watcher": 0}, exit_code=88)
    rig.begin()
    rig.run_until(100)
    assert [when for when, _, _ in rig.starts] == [0, 0, 10, 30, 70]


def test_the_restart_policy_decides_about_any_other_exit() -> None:
    rig = training()
    rig.exit_code = {"watcher": 1}
    rig.run_until(30)
    assert effects(rig) == []
    assert rig.machine.phase == "Running"


def test_a_failed_removal_is_tried_again_until_all_containers_are_removed() -> None:
    rig = training(fail={RemoveContainer: "busy"})
    rig.run_until(15)
    assert len(rig.starts) == 4
    rig.fail.clear()
    rig.run_until(25)
    assert rig.starts[4] == (21, "setup", 1)


def test_a_pod_that_ends_restarts_no_container() -> None:
    rig = training(kill_takes=60)
    rig.run_until(12)
    rig.handle(Terminate())
    rig.run_until(200)
    assert rig.gone
    assert len(rig.starts) == 4


def test_a_probe_failure_during_the_restart_of_all_asks_for_no_second_kill() -> None:
    rig = training(kill_takes=60)
    rig.results.values["liveness", "t://side-0"] = "Failure"
    rig.run_until(20)
    assert {kill.reason for _, kill in rig.kills if kill.name != "side"} == {KillReason.RESTART_ALL}
