"""KEP-2238: a probe's own terminationGracePeriodSeconds, to the second, whatever the pod's."""

from typing import Any

import pytest

from tests.unit.policy.rig import Rig, make_pod

STUBBORN = 1e9


def kept_alive(probe: str, grace: int | None, **container: Any) -> dict[str, Any]:
    field = {} if grace is None else {"terminationGracePeriodSeconds": grace}
    return {"name": "app", f"{probe}Probe": {"httpGet": {"path": "/", "port": 80}, **field}, **container}


def killed(probe: str, container: dict[str, Any], **options: Any) -> Rig:
    """A pod with an hour of grace whose container ignores SIGTERM, and whose probe fails after 100 s."""
    rig = Rig(make_pod(container, terminationGracePeriodSeconds=3600), kill_takes=STUBBORN, **options)
    rig.begin()
    rig.run_until(100)
    rig.probe_fails(probe, "t://app-0")
    rig.run_until(10_000)
    return rig


@pytest.mark.parametrize("probe", ["liveness", "startup"])
def test_the_keps_example_an_hour_for_the_pod_and_a_minute_for_a_hung_container(probe: str) -> None:
    rig = killed(probe, kept_alive(probe, 60))
    ((asked_at, kill),) = rig.kills
    assert (asked_at, kill.grace_seconds, kill.grace_source) == (100, 60, "probe")
    assert rig.ends == [(160, "app")]
    assert rig.starts == [(0, "app", 0), (160, "app", 1)]


@pytest.mark.parametrize("probe", ["liveness", "startup"])
def test_without_the_field_a_hung_container_keeps_the_pods_whole_hour(probe: str) -> None:
    rig = killed(probe, kept_alive(probe, None))
    assert rig.ends == [(3700, "app")]
    assert rig.kills[0][1].grace_source == "pod"


@pytest.mark.parametrize(("failing", "other"), [("liveness", "startup"), ("startup", "liveness")])
def test_the_grace_of_one_probe_does_not_apply_to_kills_of_another(failing: str, other: str) -> None:
    rig = killed(failing, kept_alive(other, 7))
    assert rig.ends == [(3700, "app")]


def test_a_grace_of_one_second_is_raised_to_the_minimum() -> None:
    assert killed("liveness", kept_alive("liveness", 1)).ends == [(102, "app")]


def test_a_probe_grace_longer_than_the_pods_is_used_unchanged() -> None:
    assert killed("liveness", kept_alive("liveness", 5000)).ends == [(5100, "app")]


def test_a_pre_stop_hook_gets_at_most_the_probes_grace() -> None:
    hook = {"lifecycle": {"preStop": {"exec": {"command": ["drain"]}}}}
    rig = killed("liveness", kept_alive("liveness", 60, **hook), hook_takes={"app/preStop": 3000})
    ((stopped_at, kill),) = rig.kills
    assert (stopped_at, kill.grace_seconds) == (160, 2)
    assert rig.ends == [(162, "app")]


def test_with_the_gate_off_the_probe_grace_of_an_older_pod_is_ignored() -> None:
    rig = killed("liveness", kept_alive("liveness", 60), probe_grace=False)
    assert rig.ends == [(3700, "app")]
    assert rig.kills[0][1].grace_source == "pod"
