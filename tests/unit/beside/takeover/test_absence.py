"""When the gates of a node close because its agent is silent."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probelet.beside.takeover.absence import Absence
from probelet.beside.takeover.lease import AgentLease, agent_lease, lease_name
from probelet.beside.takeover.names import CONDITION, MIRROR_ANNOTATION, PROBES_ANNOTATION
from probelet.beside.takeover.taken_pod import TakenPod, taken_pod

MINUTE = 60_000_000_000
AGAIN_NS = MINUTE // 6
AFTER = 5 * MINUTE


def pod(name: str, node: str = "a", *, ready: bool = True) -> TakenPod:
    return TakenPod("default", name, name, node, ready)


def following(*pods: TakenPod) -> Absence:
    absence = Absence(AFTER)
    for one in pods:
        absence.pod(one.uid, one, 0)
    absence.synced(True, 0)
    return absence


def closed(absence: Absence, now: int) -> list[str]:
    return [close.pod.name for close in absence.due(now)]


def test_a_silent_node_loses_its_ready_pods_and_others_keep_theirs() -> None:
    absence = following(pod("x"), pod("y", ready=False), pod("z", "b"))
    absence.renewed("a", 0)
    for minute in range(1, 6):
        absence.renewed("b", minute * MINUTE)
    assert absence.deadline(0) == AFTER
    assert closed(absence, AFTER - 1) == []
    assert [(close.pod.name, close.silent_ns) for close in absence.due(AFTER)] == [("x", AFTER)]
    assert closed(absence, AFTER) == [], "once is enough while the answer is awaited"


def test_a_node_that_never_had_a_lease_has_as_long_as_every_other() -> None:
    absence = following(pod("x"))
    assert closed(absence, AFTER - 1) == []
    assert closed(absence, AFTER) == ["x"]


def test_without_the_api_server_nobody_is_silent() -> None:
    absence = following(pod("x"))
    absence.synced(False, MINUTE)
    assert absence.deadline(10 * AFTER) is None
    assert closed(absence, 10 * AFTER) == []
    absence.synced(True, 10 * AFTER)
    assert absence.deadline(10 * AFTER) == 11 * AFTER, "agents could not renew their Leases either"
    assert closed(absence, 11 * AFTER) == ["x"]


def test_a_gate_that_somebody_opens_is_a_sign_of_life() -> None:
    absence = following(pod("x"), pod("y"))
    assert closed(absence, AFTER) == ["x", "y"]
    absence.pod("x", pod("x", ready=False), AFTER)
    absence.pod("x", pod("x"), AFTER + MINUTE)
    assert closed(absence, AFTER + 2 * MINUTE) == []
    assert absence.deadline(AFTER + 2 * MINUTE) == 2 * AFTER + MINUTE


def test_a_write_that_failed_is_tried_again_after_a_pause_and_not_for_a_pod_that_is_gone() -> None:
    absence = following(pod("x"), pod("y"))
    assert closed(absence, AFTER) == ["x", "y"]
    for uid in ("x", "y"):
        absence.wrote(uid, False, AFTER)
    absence.pod("y", None, AFTER)
    assert absence.deadline(AFTER) == AFTER + AGAIN_NS
    assert closed(absence, AFTER + AGAIN_NS - 1) == []
    assert closed(absence, AFTER + AGAIN_NS) == ["x"]
    absence.wrote("x", True, AFTER + AGAIN_NS)
    assert absence.deadline(AFTER + AGAIN_NS) is None
    assert closed(absence, 10 * AFTER) == []


def test_a_lease_that_is_deleted_says_nothing_about_the_agent() -> None:
    absence = following(pod("x"))
    absence.renewed("a", 4 * MINUTE)
    absence.unknown("a")
    assert closed(absence, 8 * MINUTE) == []
    assert closed(absence, 9 * MINUTE) == ["x"]


STEPS = st.lists(
    st.tuples(st.sampled_from(["renew a", "renew b", "up", "down", "pod", "write", "look"]), st.integers(0, 3 * MINUTE))
)


@given(STEPS)
def test_no_gate_closes_within_the_time_of_a_sign_of_life(steps: list[tuple[str, int]]) -> None:
    absence = following(pod("x", "a"), pod("y", "b"))
    now, synced, heard = 0, True, {"a": 0, "b": 0}
    for step, ns in steps:
        now += ns
        if step.startswith("renew") and synced:
            heard[step[-1]] = now
            absence.renewed(step[-1], now)
        elif step in ("up", "down"):
            synced = step == "up"
            heard = {"a": now, "b": now}
            absence.synced(synced, now)
        elif step == "pod":
            absence.pod("x", pod("x"), now)
        for close in absence.due(now):
            assert synced
            assert now - heard[close.pod.node] >= AFTER
            absence.wrote(close.pod.uid, step != "write", now)
        deadline = absence.deadline(now)
        assert deadline is None or deadline > now, "what was due is done"


def test_a_lease_counts_for_its_duration_and_half_a_minute_between_clocks() -> None:
    spec = {"renewTime": "1970-01-01T00:01:00.000000Z", "leaseDurationSeconds": 15}
    lease = agent_lease({"metadata": {"name": lease_name("a")}, "spec": spec})
    assert lease == AgentLease("a", 60_000, 15_000)
    assert (lease.is_live(105_000), lease.is_live(105_001)) == (True, False)


def test_a_lease_that_was_never_renewed_and_one_of_another_program() -> None:
    assert agent_lease({"metadata": {"name": "probelet-agent-a"}}) == AgentLease("a", 0, 0)
    assert agent_lease({"metadata": {"name": "kube-scheduler"}}) is None


OPEN = {"type": CONDITION, "status": "True"}
TAKEN = {PROBES_ANNOTATION: "{}"}


@pytest.mark.parametrize(
    ("annotations", "node", "status", "ready"),
    [
        (TAKEN, "a", {"phase": "Running", "conditions": [OPEN]}, True),
        (TAKEN, "a", {"phase": "Running", "conditions": [{**OPEN, "status": "False"}]}, False),
        (TAKEN, "a", {"conditions": [{**OPEN, "type": "Ready"}]}, False),
        (TAKEN, "a", None, False),
        (TAKEN, "", None, None),
        (TAKEN, "a", {"phase": "Succeeded"}, None),
        (TAKEN, "a", {"phase": "Failed"}, None),
        ({**TAKEN, MIRROR_ANNOTATION: "8a7f"}, "a", None, None),
        ({}, "a", {"phase": "Running"}, None),
    ],
)
def test_pods_that_are_taken_over_bound_and_not_over(
    annotations: dict[str, str], node: str, status: Any, ready: bool | None
) -> None:
    metadata = {"name": "web", "namespace": "default", "uid": "u", "annotations": annotations}
    spec = {"nodeName": node, "containers": []}
    found = taken_pod({"metadata": metadata, "spec": spec} | ({"status": status} if status else {}))
    assert found == (None if ready is None else TakenPod("default", "web", "u", "a", ready))
