"""A pod whose manifest changes under its own UID: a new image restarts its container in place, nothing else does.

Kubelet container/helpers.go:HashContainer and kuberuntime_manager.go:computePodActions, 1.36.
"""

from probelet.policy.protocol.actions import Define, Publish
from probelet.policy.protocol.inputs import Change, Terminate
from probelet.spec.model.pod import Pod

from tests.unit.policy.rig import Rig, make_pod


def change(rig: Rig, pod: Pod) -> None:
    rig.handle(Change(pod))
    rig.settle()


def test_another_image_restarts_the_container_with_the_next_count() -> None:
    rig = Rig(make_pod({"name": "app"}, {"name": "other"}), kill_takes=1)
    rig.begin()
    change(rig, make_pod({"name": "app", "image": "j"}, {"name": "other"}))
    rig.run_until(5)
    assert ("Killing", "Container app definition changed, will be restarted") in rig.events
    assert [(at, kill.name, kill.grace_seconds) for at, kill in rig.kills] == [(0, "app", 30)]
    assert rig.starts == [(0, "app", 0), (0, "other", 0), (1, "app", 1)]
    assert len({record.sandbox_id for record in rig.snapshot.containers}) == 1, "the sandbox stays"


def test_another_environment_restarts_nothing_and_holds_at_the_next_start() -> None:
    rig = Rig(make_pod({"name": "app"}))
    rig.begin()
    changed = make_pod({"name": "app", "env": [{"name": "A", "value": "b"}]})
    change(rig, changed)
    assert (rig.kills, len(rig.starts)) == ([], 1)
    rig.at(3, "exit", "t://app-0")
    rig.run_until(4)
    assert rig.starts[1:] == [(3, "app", 1)]
    assert rig.machine.pod is changed


def test_a_new_container_starts_beside_the_others() -> None:
    rig = Rig(make_pod({"name": "a"}))
    rig.begin()
    change(rig, make_pod({"name": "a"}, {"name": "b"}))
    assert (rig.kills, rig.starts) == ([], [(0, "a", 0), (0, "b", 0)])


def test_a_container_in_back_off_starts_at_once_with_another_image() -> None:
    rig = Rig(make_pod({"name": "app"}), dies_after={"app": 1})
    rig.begin()
    rig.run_until(3)
    assert rig.machine.waiting_restarts() == {"app"}
    change(rig, make_pod({"name": "app", "image": "j"}))
    assert rig.starts[-1] == (3, "app", 2)


def test_the_pod_is_defined_before_its_first_status_and_only_between_syncs() -> None:
    """A sync in flight goes on with the pod that it began with."""
    rig = Rig(make_pod({"name": "app"}, {"name": "other"}), kill_takes=4)
    rig.begin()
    rig.probe_fails("liveness", "t://app-0")
    given = len(rig.actions)
    changed = make_pod({"name": "app"}, {"name": "other", "image": "j"})
    change(rig, changed)
    assert not [action for action in rig.actions[given:] if isinstance(action, Define)], "its kill is in flight"
    rig.run_until(20)
    kinds = [action for action in rig.actions[given:] if isinstance(action, Define | Publish)]
    assert kinds[0] == Define(changed)
    assert rig.starts[2:] == [(4, "app", 1), (8, "other", 1)]


def test_a_pod_that_has_ended_stays_ended() -> None:
    rig = Rig(make_pod(restartPolicy="Never"), dies_after={"app": 1}, exit_code=0)
    rig.begin()
    rig.run_until(5)
    change(rig, make_pod({"name": "app", "image": "j"}, restartPolicy="Never"))
    rig.run_until(50)
    assert (rig.machine.phase, len(rig.starts)) == ("Succeeded", 1)


def test_a_pod_that_ends_starts_nothing_for_a_change() -> None:
    rig = Rig(make_pod(), kill_takes=5)
    rig.begin()
    rig.handle(Terminate())
    change(rig, make_pod({"name": "app", "image": "j"}))
    rig.run_until(50)
    assert (rig.gone, len(rig.starts), len(rig.kills)) == (True, 1, 1)


def test_an_active_deadline_counts_from_the_first_sync() -> None:
    rig = Rig(make_pod())
    rig.begin()
    rig.run_until(4)
    change(rig, make_pod(activeDeadlineSeconds=6))
    rig.run_until(5.9)
    assert rig.kills == []
    rig.run_until(7)
    assert [at for at, _ in rig.kills] == [6]
