"""A pod that exceeds activeDeadlineSeconds fails, whatever its containers are doing."""

from typing import Any

import pytest
from probelet.policy.protocol.actions import Publish
from probelet.policy.protocol.inputs import Terminate

from tests.unit.policy.rig import Rig, make_pod

EXCEEDED = ("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")


def limited(*containers: dict[str, Any], **spec: Any) -> Rig:
    return Rig(make_pod(*containers, activeDeadlineSeconds=5, **spec), kill_takes=1)


@pytest.mark.parametrize("policy", ["Always", "OnFailure", "Never"])
def test_at_the_deadline_the_pod_fails_and_its_containers_are_killed_with_its_grace(policy: str) -> None:
    rig = limited({"name": "a"}, {"name": "b"}, restartPolicy=policy)
    rig.begin()
    rig.run_until(4.999)
    assert (rig.machine.phase, rig.machine.reason, rig.kills) == ("Running", "", [])
    rig.run_until(100)
    assert sorted((at, kill.name, kill.grace_seconds) for at, kill in rig.kills) == [(5, "a", 30), (5, "b", 30)]
    assert (rig.machine.phase, (rig.machine.reason, rig.machine.message)) == ("Failed", EXCEEDED)
    assert rig.events.count(EXCEEDED) == 1
    assert rig.starts == [(0, "a", 0), (0, "b", 0)], "nothing starts again"
    assert {publish.phase for publish in rig.published if isinstance(publish, Publish)} == {
        "Pending",
        "Running",
        "Failed",
    }
    rig.handle(Terminate())
    rig.settle()
    assert rig.gone


def test_a_container_in_back_off_counts_as_active() -> None:
    rig = Rig(make_pod(activeDeadlineSeconds=5), dies_after={"app": 1})
    rig.begin()
    rig.run_until(100)
    assert (rig.machine.phase, rig.machine.reason) == ("Failed", "DeadlineExceeded")
    assert [at for at, _, _ in rig.starts] == [0, 1]


def test_a_pod_that_completes_before_the_deadline_succeeds() -> None:
    rig = Rig(make_pod(activeDeadlineSeconds=5, restartPolicy="Never"), dies_after={"app": 1}, exit_code=0)
    rig.begin()
    rig.run_until(100)
    assert (rig.machine.phase, rig.machine.reason) == ("Succeeded", "")
    assert EXCEEDED not in rig.events


def test_a_pod_that_is_being_removed_does_not_fail_at_its_deadline() -> None:
    rig = Rig(make_pod(activeDeadlineSeconds=5), kill_takes=20)
    rig.begin()
    rig.at(1, "give", Terminate())
    rig.run_until(100)
    assert rig.gone
    assert EXCEEDED not in rig.events
