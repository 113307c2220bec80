"""The manager's table, in its order, and OpenKruise's own cases by name."""

import json
from typing import Any

import pytest
from msgspec.structs import replace
from probelet.beside.guard.names import ACTIVE, SNAPSHOT, UNREADY_ACQUIRED
from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.objects.recreate_request import RecreateRequest
from probelet.beside.guard.objects.requested_pod import RequestedPod
from probelet.beside.guard.recreate.manage import Age, Delete, Management, Patch, SetConditions, manage, snapshot
from probelet.beside.guard.recreate.not_ready import OutOfService, out_of_service

from tests.unit.beside.guard.recreate.made_request import (
    CREATED,
    NEW,
    SECOND,
    acquired,
    made,
    made_pod,
    recreating,
    seen,
    snapshot_of,
)

WALL = CREATED + 5 * SECOND
DONE = {"phase": "Completed", "completionTime": text(CREATED)}
KEY = '[{"userAgent":"ContainerRecreateRequest","key":"default/again"}]'


def managed(
    request: RecreateRequest, pod: RequestedPod | None, *, seconds: float = 5, wall_ns: int = WALL
) -> Management:
    return manage(request, pod, Age(int(seconds * SECOND), int(seconds * SECOND)), wall_ns)


def ends(found: Management) -> tuple[str, str]:
    assert isinstance(found.action, Patch)
    assert found.action.subresource == "status"
    status = found.action.body["status"]
    assert status["phase"] == "Completed"
    assert status["completionTime"] == text(WALL)
    return found.action.ends, status["message"]


# Order of the table.


def test_the_label_of_an_ended_request_goes_then_its_ttl_runs() -> None:
    active = made(status=DONE, ttlSecondsAfterFinished=20)
    assert managed(active, None) == Management(Patch({"metadata": {"labels": {ACTIVE: None}}}))
    left = _without_label(active)
    assert managed(left, None) == Management(again_ns=15 * SECOND)
    assert managed(left, None, wall_ns=CREATED + 20 * SECOND) == Management(Delete())


def test_without_a_ttl_a_request_stays() -> None:
    assert managed(_without_label(made(status=DONE)), None, wall_ns=CREATED + 10**9 * SECOND) == Management()


def test_a_request_that_is_deleted_keeps_its_label_and_only_frees_its_pod() -> None:
    assert managed(made(is_deleting=True), made_pod()) == Management()


@pytest.mark.parametrize("pod", [None, {"is_terminating": True}, {"uid": "another"}])
def test_t29_without_its_pod_a_request_ends(pod: dict[str, Any] | None) -> None:
    found = managed(made(status=recreating()), None if pod is None else made_pod(**pod))
    assert ends(found) == ("PodGone", "pod has gone")


def test_a_node_that_does_not_answer_within_a_minute() -> None:
    assert managed(made(), made_pod(), seconds=59) == Management(again_ns=SECOND)
    found = managed(made(), made_pod(), seconds=60)
    assert ends(found) == ("NotAnswered", "daemon has not responded for a long time")
    assert managed(made(status={"phase": "Pending"}), made_pod(), seconds=60) == Management()


def test_c2_at_the_deadline_what_has_not_ended_has_failed() -> None:
    states = (
        {"name": "app", "phase": "Succeeded", "isKilled": True},
        {"name": "side", "phase": "Recreating", "isKilled": True},
        {"name": "third", "phase": "Pending", "message": "not found container on Node"},
    )
    request = made("app", "side", "third", status=recreating(*states), activeDeadlineSeconds=60)
    found = managed(request, made_pod(), seconds=60)
    assert ends(found) == ("Deadline", "recreating has exceeded the activeDeadlineSeconds")
    assert isinstance(found.action, Patch)
    assert found.action.body["status"]["containerRecreateStates"] == [
        {"name": "app", "phase": "Succeeded", "isKilled": True},
        {"name": "side", "phase": "Failed", "isKilled": True},
        {"name": "third", "phase": "Failed", "message": "not found container on Node"},
    ]


def test_the_answer_is_asked_for_before_the_deadline() -> None:
    assert ends(managed(made(activeDeadlineSeconds=3), made_pod(), seconds=60))[0] == "NotAnswered"
    assert managed(made(activeDeadlineSeconds=3), made_pod(), seconds=1) == Management(again_ns=2 * SECOND)


def test_f12_a_clock_that_is_wrong_by_a_minute_ends_no_request_early_and_an_old_one_ends() -> None:
    ahead = Age(by_clock_ns=60 * SECOND, seen_ns=0)
    assert manage(made(), made_pod(), ahead, WALL).action is None
    behind = Age(by_clock_ns=0, seen_ns=60 * SECOND)
    assert ends(manage(made(), made_pod(), behind, WALL))[0] == "NotAnswered"
    another_leader = Age(by_clock_ns=120 * SECOND, seen_ns=0)
    assert ends(manage(made(), made_pod(), another_leader, WALL))[0] == "NotAnswered"


def test_a_request_that_waits_is_looked_at_again_at_its_deadline() -> None:
    waits = made(status={"phase": "Pending"}, activeDeadlineSeconds=60)
    assert managed(waits, made_pod()) == Management(again_ns=55 * SECOND)


# Snapshot.


def test_upstream_sync_container_statuses_collects_running_containers() -> None:
    # There: app started after the request, sidecar before it. Here: app is another instance, sidecar is the same.
    request = made("app", "sidecar", status=recreating())
    pod = made_pod("app", "sidecar", running={"app": f"{NEW}-app"})
    found = managed(request, pod)
    assert isinstance(found.action, Patch)
    text_of = found.action.body["metadata"]["annotations"][SNAPSHOT]
    assert json.loads(text_of) == [seen("app")]


def test_upstream_snapshot_equal() -> None:
    pod = made_pod(running={"app": f"{NEW}-app"})
    same = made(status=recreating(), annotations=snapshot_of(seen("app")))
    assert managed(same, pod) == Management(again_ns=3 * SECOND)
    other = made(status=recreating(), annotations=snapshot_of(seen("app", ready=False)))
    assert isinstance(managed(other, pod).action, Patch)
    longer = made(status=recreating(), annotations=snapshot_of(seen("app"), seen("side")))
    assert isinstance(managed(longer, pod).action, Patch)


def test_an_empty_snapshot_never_replaces_another() -> None:
    request = made(status=recreating(), annotations=snapshot_of(seen("app")))
    assert managed(request, made_pod(running={"app": ""})) == Management(again_ns=3 * SECOND)


def test_c3_a_new_instance_counts_whatever_its_start_time_says() -> None:
    request = made(status=recreating())
    pod = made_pod(running={"app": f"{NEW}-app"})
    assert [each.container_id for each in snapshot(request, pod)] == [f"{NEW}-app"]
    assert snapshot(request, made_pod()) == ()
    both = made("app", "side", status=recreating())
    pod = made_pod("app", "side", running={"side": f"{NEW}-side"})
    assert [each.container_id for each in snapshot(both, pod)] == [f"{NEW}-side"]
    pod = made_pod("app", "side", running={"app": "", "side": f"{NEW}-side"})
    assert [each.container_id for each in snapshot(both, pod)] == [f"{NEW}-side"]


# Unready grace period.

ASKS: dict[str, Any] = {"status": recreating(), "strategy": {"unreadyGracePeriodSeconds": 3}}


def test_a_pod_is_taken_out_of_service_condition_first_then_note_and_without_a_finalizer() -> None:
    pod = made_pod(
        gate=True, conditions=[{"type": "KruisePodReady", "status": "True"}, {"type": "Ready", "status": "True"}]
    )
    held = made(**ASKS)
    found = managed(held, pod)
    assert isinstance(found.action, SetConditions)
    gate, ready = found.action.conditions
    assert (gate["type"], gate["status"], gate["message"]) == ("KruisePodReady", "False", KEY)
    assert (ready["status"], ready["reason"]) == ("False", "ReadinessGatesNotReady")
    out = made_pod(gate=True, conditions=[{"type": "KruisePodReady", "status": "False", "message": KEY}])
    assert managed(held, out) == Management(Patch({"metadata": {"annotations": {UNREADY_ACQUIRED: text(WALL)}}}))


def test_without_the_gate_only_the_time_is_noted() -> None:
    found = managed(made(**ASKS), made_pod())
    assert found == Management(Patch({"metadata": {"annotations": {UNREADY_ACQUIRED: text(WALL)}}}))


def test_upstream_wait_recreate_grace_period_preserves_the_time() -> None:
    noted = made(annotations=acquired(), **ASKS)
    assert managed(noted, made_pod(), wall_ns=WALL + 15 * SECOND) == Management(again_ns=3 * SECOND)


@pytest.mark.parametrize(
    ("noted", "has_it"), [({}, False), (acquired(), True), ({UNREADY_ACQUIRED: ""}, False), ({"other": "x"}, False)]
)
def test_upstream_has_pre_recreate_grace_condition(noted: dict[str, str], has_it: bool) -> None:
    found = managed(made(annotations=noted, **ASKS), made_pod())
    assert (found.action is None) is has_it


def test_nobody_asks_so_nothing_is_taken_out() -> None:
    assert managed(made(status=recreating()), made_pod(gate=True)) == Management(again_ns=3 * SECOND)


@pytest.mark.parametrize("over", [{"status": DONE}, {"is_deleting": True}])
def test_an_ended_request_puts_its_pod_back_and_then_lets_go(over: dict[str, Any]) -> None:
    request = made(finalizers=["other", UNREADY_ACQUIRED], **over)
    pod = made_pod(gate=True, conditions=[{"type": "KruisePodReady", "status": "False", "message": KEY}])
    found = managed(request, pod)
    assert isinstance(found.action, SetConditions)
    [gate] = found.action.conditions
    assert (gate["status"], gate["message"]) == ("True", "[]")
    back = made_pod(gate=True, conditions=[{"type": "KruisePodReady", "status": "True", "message": "[]"}])
    assert managed(request, back) == Management(Patch({"metadata": {"finalizers": ["other"]}}))
    assert managed(request, None) == Management(Patch({"metadata": {"finalizers": ["other"]}}))


@pytest.mark.parametrize("over", [{"status": DONE}, {"is_deleting": True}])
def test_an_ended_request_without_a_finalizer_puts_its_pod_back_too(over: dict[str, Any]) -> None:
    asks = {**over, "strategy": ASKS["strategy"]}
    pod = made_pod(gate=True, conditions=[{"type": "KruisePodReady", "status": "False", "message": KEY}])
    found = managed(made(**asks), pod)
    assert isinstance(found.action, SetConditions)
    back = made_pod(gate=True, conditions=[{"type": "KruisePodReady", "status": "True", "message": "[]"}])
    assert not isinstance(managed(made(**asks), back).action, SetConditions)


def test_another_reason_keeps_the_pod_out_of_service() -> None:
    other = '{"userAgent":"InplaceUpdate","key":"x"}'
    message = f"[{other},{KEY[1:-1]}]"
    pod = made_pod(gate=True, conditions=[{"type": "KruisePodReady", "status": "False", "message": message}])
    found = managed(made(finalizers=[UNREADY_ACQUIRED], status=DONE), pod)
    assert isinstance(found.action, SetConditions)
    assert (found.action.conditions[0]["status"], found.action.conditions[0]["message"]) == ("False", f"[{other}]")


def _without_label(request: RecreateRequest) -> RecreateRequest:
    return replace(request, is_active=False)


@pytest.mark.parametrize(
    ("conditions", "requests"),
    [
        ([], ()),
        ([{"type": "KruisePodReady", "status": "True", "message": KEY}], ()),
        ([{"type": "Ready", "status": "False", "message": KEY}], ()),
        ([{"type": "KruisePodReady", "status": "False", "message": KEY}], ("default/again",)),
        ([{"type": "KruisePodReady", "status": "False"}], ()),
        ([{"type": "KruisePodReady", "status": "False", "message": "{"}], ()),
        ([{"type": "KruisePodReady", "status": "False", "message": '[{"userAgent":"Other","key":"a/b"}]'}], ()),
    ],
)
def test_a_pod_says_which_requests_keep_it_out_of_service(conditions: list[Any], requests: tuple[str, ...]) -> None:
    meta = {"namespace": "default", "name": "web", "uid": "u"}
    found = out_of_service({"metadata": meta, "status": {"conditions": conditions}})
    assert found == OutOfService("default", "web", "u", requests)
    assert out_of_service({"metadata": meta}).requests == ()
