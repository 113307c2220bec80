"""One step of the executor: acceptance, order of kills, failures, deadline, end."""

import pytest
from probelet.beside.guard.objects.recreate_request import RecreateRequest, RecreateState, read_request
from probelet.beside.guard.recreate.execute import Step, execute, pick
from probelet.beside.guard.recreate.execution import Execution
from probelet.beside.guard.recreate.progress import Progress
from probelet.beside.guard.recreate.situation import Instance

from tests.unit.beside.guard.recreate.made_request import (
    SECOND,
    acquired,
    made,
    new,
    old,
    recreating,
    request_object,
    seen,
    snapshot_of,
    view,
)

BOTH = {"app": old("app"), "side": old("side")}


def step(request: RecreateRequest, progress: Progress | None = None, **given: object) -> Step:
    return execute(request, Progress("Recreating") if progress is None else progress, view(**given))


def phases(found: Step) -> list[tuple[str, bool]]:
    return [(each.phase, each.is_killed) for each in found.progress.states]


def after(*states: tuple[str, str, bool]) -> Progress:
    return Progress("Recreating", tuple(RecreateState(name=n, phase=p, is_killed=k) for n, p, k in states))


def test_a_request_is_accepted_before_anything_else_happens() -> None:
    found = step(made(), Progress(), instances={"app": old("app")})
    assert found == Step(Progress("Recreating"))


def test_t23_unordered_kills_follow_one_another_without_waiting_for_the_new_container() -> None:
    request = made("app", "side")
    first = step(request, instances=BOTH)
    assert (first.kill, phases(first)) == ("app", [("Recreating", True), ("Pending", False)])
    during = step(request, first.progress, instances=BOTH, killing={old("app").id})
    assert (during.kill, phases(during)) == ("", [("Recreating", True), ("Pending", False)])
    dead = {"app": old("app", state="exited"), "side": old("side")}
    assert step(request, during.progress, instances=dead).kill == "side"


def test_t22_ordered_kills_wait_until_the_one_before_has_succeeded() -> None:
    request = made("app", "side", strategy={"orderedRecreate": True})
    progress = step(request, instances=BOTH).progress
    back = {"app": new("app"), "side": old("side")}
    waits = step(request, progress, instances=back)
    assert (waits.kill, phases(waits)) == ("", [("Recreating", True), ("Pending", False)])
    ready = made("app", "side", strategy={"orderedRecreate": True}, annotations=snapshot_of(seen("app")))
    goes = step(ready, progress, instances=back)
    assert (goes.kill, phases(goes)) == ("side", [("Succeeded", True), ("Recreating", True)])


@pytest.mark.parametrize(("policy", "phase"), [("Fail", "Completed"), ("Ignore", "Recreating")])
def test_t21_a_kill_that_fails_ends_the_request_or_is_passed_over(policy: str, phase: str) -> None:
    request = made("app", "side", strategy={"failurePolicy": policy})
    progress = after(("app", "Recreating", True), ("side", "Pending", False))
    found = step(request, progress, instances=BOTH, failures={"app": "StopContainer: Unknown: x"})
    assert found.progress.phase == phase
    assert found.progress.states[0].phase == "Failed"
    assert found.progress.states[0].message == "kill container error: StopContainer: Unknown: x"
    assert found.kill == ("" if policy == "Fail" else "side")


def test_t21_with_ignore_the_request_ends_once_the_others_have() -> None:
    request = made("app", "side", strategy={"failurePolicy": "Ignore"}, annotations=snapshot_of(seen("side")))
    progress = after(("app", "Failed", True), ("side", "Recreating", True))
    found = step(request, progress, instances={"app": old("app"), "side": new("side")})
    assert (found.progress.phase, phases(found)) == ("Completed", [("Failed", True), ("Succeeded", True)])
    assert not found.progress.has_succeeded


def test_a_container_that_is_missing_stops_the_row_until_it_is_there() -> None:
    found = step(made("app", "side"), instances={"side": old("side")})
    assert (found.kill, phases(found)) == ("", [("Pending", False), ("Pending", False)])


def test_an_instance_that_was_replaced_before_is_not_killed_and_marked() -> None:
    found = step(made(), instances={"app": new("app")})
    assert (found.kill, phases(found)) == ("", [("Recreating", True)])


def test_everything_succeeded_completes_with_an_empty_message() -> None:
    request = made(annotations=snapshot_of(seen("app")))
    found = step(request, after(("app", "Recreating", True)), instances={"app": new("app")})
    assert found.progress == Progress("Completed", (RecreateState(name="app", phase="Succeeded", is_killed=True),))
    assert found.progress.has_succeeded


def test_the_run_time_asks_for_a_look_when_it_is_over() -> None:
    request = made(strategy={"minStartedSeconds": 5}, annotations=snapshot_of(seen("app")))
    found = step(request, after(("app", "Recreating", True)), instances={"app": new("app", started_ms=998_000)})
    assert found.again_ns == 3_001 * 1_000_000


def test_c2_t28_the_deadline_fails_what_has_not_ended_and_no_kill_begins() -> None:
    request = made("app", "side", activeDeadlineSeconds=60)
    progress = after(("app", "Succeeded", True), ("side", "Pending", False))
    found = step(request, progress, instances={"app": new("app"), "side": old("side")}, seen_ns=60 * SECOND)
    assert (found.kill, found.progress.phase) == ("", "Completed")
    assert found.progress.message == "recreating has exceeded the activeDeadlineSeconds"
    assert phases(found) == [("Succeeded", True), ("Failed", False)]
    early = step(request, progress, instances={"app": new("app"), "side": old("side")}, seen_ns=59 * SECOND)
    assert (early.kill, early.again_ns) == ("side", SECOND)


def test_c6_a_container_that_never_gets_ready_stays_until_the_deadline() -> None:
    request = made(activeDeadlineSeconds=60, annotations=snapshot_of(seen("app", ready=False)))
    found = step(request, after(("app", "Recreating", True)), instances={"app": new("app")}, seen_ns=59 * SECOND)
    assert phases(found) == [("Recreating", True)]


def test_f2b_without_the_api_server_no_kill_begins() -> None:
    found = step(made(), instances={"app": old("app")}, may_begin=False)
    assert (found.kill, phases(found)) == ("", [("Pending", False)])


def test_the_unready_grace_is_waited_for_from_when_the_pod_is_out_of_service() -> None:
    request = made(strategy={"unreadyGracePeriodSeconds": 3})
    assert step(request, instances={"app": old("app")}) == Step(Progress("Recreating"))
    drained = made(strategy={"unreadyGracePeriodSeconds": 3}, annotations=acquired())
    waits = step(drained, instances={"app": old("app")}, drained_ns=SECOND)
    assert waits == Step(Progress("Recreating"), again_ns=2 * SECOND)
    assert step(drained, instances={"app": old("app")}, drained_ns=3 * SECOND).kill == "app"


@pytest.mark.parametrize(
    ("id", "why"),
    [
        ("", "no statusContext or empty containerID in app container"),
        ("abc", 'failed to parse containerID abc in app container: invalid container ID: "abc"'),
        ("docker://abc", "not found runtime service for docker in daemon"),
    ],
)
def test_a_runtime_that_is_not_this_nodes_ends_the_request(id: str, why: str) -> None:
    raw = request_object()
    raw["spec"]["containers"][0]["statusContext"]["containerID"] = id
    found = step(read_request(raw), instances={"app": old("app")})
    assert found == Step(Progress("Completed", (), f"failed to find runtime service: {why}"))


def test_containers_of_two_runtimes_end_the_request() -> None:
    raw = request_object("app", "side")
    raw["spec"]["containers"][1]["statusContext"]["containerID"] = "docker://abc"
    found = step(read_request(raw), instances=BOTH)
    assert found.progress.message.endswith("has different runtime types containerd, docker in Pod")


def test_t26_two_requests_for_a_pod_go_one_after_the_other_the_one_under_way_first() -> None:
    older, newer = made(name="a"), made(name="b")
    going = made(name="c", status=recreating())
    found = [(each, Progress.of(each)) for each in (older, newer, going)]
    picked, others = pick(found)
    assert picked is going
    assert others == [older, newer]
    picked, others = pick(found[:2])
    assert (picked, others) == (older, [newer])


def test_c1_a_completed_or_deleted_request_lets_the_next_one_go() -> None:
    done = made(name="a", status={"phase": "Completed", "completionTime": "2026-11-22T23:00:00Z"})
    leaving = made(name="b", status=recreating(), is_deleting=True)
    waits = made(name="c", status={"phase": "Pending"})
    assert pick((each, Progress.of(each)) for each in (done, leaving, waits)) == (waits, [])
    assert pick([(done, Progress.of(done))]) == (None, [])


def test_a_phase_that_nobody_knows_counts_as_none() -> None:
    odd = made(name="a", status={"phase": "Odd"})
    assert pick([(odd, Progress.of(odd))])[0] is odd


@pytest.mark.parametrize("state", ["exited", "running"])
def test_c8_a_kill_for_another_reason_counts_and_is_not_repeated(state: str) -> None:
    dying = Instance(old("app").id, state)  # type: ignore[arg-type]
    found = step(made(), instances={"app": dying}, killing={dying.id})
    assert (found.kill, phases(found)) == ("", [("Recreating", True)])


def test_the_time_out_of_service_counts_from_the_first_request_that_says_so() -> None:
    execution = Execution.of(made(), {}, 0)
    since = []
    for now, annotations in ((1, {}), (2, acquired()), (3, acquired())):
        execution.update(made(annotations=annotations), now)
        since.append(execution.drained_ns)
    assert since == [None, 2, 2]
