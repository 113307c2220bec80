"""The grace of a kill: the table of setTerminationGracePeriod, its minimum, and the grace of a pod that ends."""

from typing import Any

import pytest
from probelet.policy.rules.grace import Grace, KillReason, find_container, select_grace, termination_grace
from probelet.spec.model.pod import Pod

from tests.unit.policy.rig import make_pod


def graced(pod_grace: int | None, liveness: int | None = None, startup: int | None = None) -> Pod:
    def probe(seconds: int) -> dict[str, Any]:
        return {"tcpSocket": {"port": 80}, "terminationGracePeriodSeconds": seconds}

    container: dict[str, Any] = {"name": "app"}
    if liveness is not None:
        container["livenessProbe"] = probe(liveness)
    if startup is not None:
        container["startupProbe"] = probe(startup)
    return make_pod(container, terminationGracePeriodSeconds=pod_grace)


@pytest.mark.parametrize(
    ("pod", "reason", "expected"),
    [
        (graced(None), KillReason.UNKNOWN, Grace(2, "default")),
        (graced(60), KillReason.UNKNOWN, Grace(60, "pod")),
        (graced(60, liveness=10), KillReason.LIVENESS, Grace(10, "probe")),
        (graced(60, startup=10), KillReason.STARTUP, Grace(10, "probe")),
        (graced(10, startup=60), KillReason.STARTUP, Grace(60, "probe")),
        (graced(10, liveness=60), KillReason.LIVENESS, Grace(60, "probe")),
        (graced(60, liveness=10), KillReason.STARTUP, Grace(60, "pod")),
        (graced(60, liveness=30, startup=10), KillReason.UNKNOWN, Grace(60, "pod")),
        (graced(60, liveness=30, startup=10), KillReason.STARTUP, Grace(10, "probe")),
        (graced(60, liveness=30, startup=10), KillReason.LIVENESS, Grace(30, "probe")),
        (graced(None, liveness=10), KillReason.LIVENESS, Grace(2, "default")),
    ],
)
def test_the_first_grace_that_applies_is_taken(pod: Pod, reason: KillReason, expected: Grace) -> None:
    assert select_grace(pod, pod.spec.containers[0], reason) == expected


@pytest.mark.parametrize(("asked", "given"), [(0, 2), (1, 2), (2, 2), (3, 3), (3600, 3600)])
def test_the_runtime_gets_a_grace_of_at_least_two_seconds(asked: int, given: int) -> None:
    assert Grace(asked, "pod").asked_of_runtime == given


@pytest.mark.parametrize(
    ("pod_grace", "override", "expected"),
    [
        (30, None, Grace(30, "pod")),
        (0, None, Grace(1, "pod")),
        (None, None, Grace(2, "default")),
        (30, 5, Grace(5, "override")),
        (30, 0, Grace(1, "override")),
        (30, 60, Grace(60, "override")),
    ],
)
def test_a_pod_that_ends_has_the_requested_grace_or_else_its_own(
    pod_grace: int | None, override: int | None, expected: Grace
) -> None:
    assert termination_grace(graced(pod_grace), override) == expected


def test_a_container_that_is_not_in_the_pod_is_not_killed_for_it() -> None:
    with pytest.raises(KeyError, match="no container 'ghost' in pod default/web"):
        find_container(graced(30), "ghost")
