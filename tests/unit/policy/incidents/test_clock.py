"""A clock that jumps begins no incident and ends none."""

import pytest
from probelet.policy.incidents import Ended

from tests.unit.policy.incidents.scene import three_apps

JUMPS = (-86_400_000, -5_000, 3_600_000, 10**12)


@pytest.mark.parametrize("jump", JUMPS)
def test_a_jump_between_two_failures_changes_nothing(jump: int) -> None:
    scene = three_apps()
    pods = scene.pods("a", "b", "c")
    scene.attempts(pods, "header_timeout", probes=("readiness",))
    scene.offset += jump
    # The next attempt of any probe tells the detector what time it is now.
    scene.recover(["d-0"])
    scene.to(85)
    assert (scene.only().kind, scene.only().thing) == ("shared", "target db:5432")


@pytest.mark.parametrize("jump", JUMPS)
def test_a_jump_ends_no_incident_and_begins_none(jump: int) -> None:
    scene = three_apps()
    scene.attempts(["d-0"], "status", probes=("readiness",))
    scene.fail(scene.pods("a", "b", "c"), probes=("readiness",))
    before = len(scene.began())
    scene.offset += jump
    scene.to(scene.now + 1)
    assert len(scene.began()) == before
    assert not any(isinstance(each, Ended) for each in scene.said)
    scene.recover(scene.pods("a", "b", "c"))
    scene.to(scene.now + 40)
    assert scene.open == []
