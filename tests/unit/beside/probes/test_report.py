"""How one state follows from another."""

from typing import Any

from probelet.beside.probes.report import NOT_RUNNING, Report, cut_message, of_running, read_reports, unknown
from probelet.policy.facts.snapshot import ContainerRecord, State

NOW = 100_000
CONTAINER = ContainerRecord("c://1", "app", State.RUNNING, started_at_ms=50_500)
NEXT = ContainerRecord("c://2", "app", State.RUNNING, started_at_ms=90_000)


def row(result: str | None, outcome: str = "failure", message: str = "no", at_ms: int = 99_000) -> dict[str, Any]:
    return {"result": result, "last": {"outcome": outcome, "message": message, "at_ms": at_ms}}


UNDECIDED = {"result": "Unknown", "last": None}


def test_d6_a_failure_keeps_its_beginning_and_takes_the_newest_message() -> None:
    first = of_running(None, CONTAINER, row("Failure"), NOW)
    assert first == Report("Failed", NOW, 99_000, "no", "c://1")
    later = of_running(first, CONTAINER, row("Failure", message="still", at_ms=120_000), 121_000)
    assert later == Report("Failed", NOW, 120_000, "still", "c://1")
    assert of_running(later, CONTAINER, row("Success", "success", ""), 130_000).since_ms == 130_000


def test_a_failure_below_the_threshold_is_said_in_the_message_until_an_attempt_succeeds() -> None:
    first = of_running(None, CONTAINER, row("Success", "warning", "redirected"), NOW)
    later = of_running(first, CONTAINER, row("Success", "failure", "no"), NOW)
    assert (later.state, later.message, later.since_ms) == ("Succeeded", "last attempt failed: no", first.since_ms)
    assert (first.fails_now, later.fails_now) == (False, True)
    unsure = of_running(later, CONTAINER, row("Success", "unknown", "the prober had no descriptor"), NOW)
    assert unsure.fails_now, "such an attempt says nothing"
    again = of_running(later, CONTAINER, row("Success", "success", ""), NOW)
    assert (again.message, again.fails_now) == ("", False)
    failed = of_running(later, CONTAINER, row("Failure", "failure", "no"), NOW)
    assert (failed.message, failed.fails_now) == ("no", False)


def test_an_undecided_worker_shows_its_failed_attempts_too() -> None:
    undecided = {"result": "Unknown", "last": {"outcome": "failure", "message": "no", "at_ms": 99_000}}
    fresh = of_running(None, CONTAINER, undecided, NOW)
    assert (fresh.state, fresh.message) == ("Unknown", "last attempt failed: no")
    of_object = Report("Succeeded", 60_000, 61_000)
    restarted = of_running(of_object, CONTAINER, undecided, NOW)
    assert (restarted.state, restarted.message, restarted.since_ms) == ("Succeeded", "last attempt failed: no", 60_000)
    assert of_running(restarted, CONTAINER, UNDECIDED, NOW) == restarted, "an agent that starts knows no attempt"
    failed = Report("Failed", 60_000, 61_000, "no")
    assert of_running(failed, CONTAINER, undecided, NOW) is failed
    assert unknown(restarted, NOT_RUNNING, NOW).message == NOT_RUNNING


def test_d3_a_result_of_the_next_container_begins_anew_also_if_it_is_the_same() -> None:
    first = of_running(None, CONTAINER, row("Failure"), NOW)
    assert of_running(first, NEXT, UNDECIDED, 110_000) == Report("Unknown", 110_000, 99_000)
    assert of_running(first, NEXT, row("Failure"), 110_000).since_ms == 110_000


def test_f4_an_undecided_worker_leaves_what_the_object_says_of_the_same_container() -> None:
    of_object = Report("Failed", 50_000, 51_000, "no")
    assert of_running(of_object, CONTAINER, UNDECIDED, NOW) is of_object, "both times are whole seconds"
    older = Report("Failed", 49_000, 49_500, "no")
    assert of_running(older, CONTAINER, UNDECIDED, NOW).state == "Unknown"
    assert of_running(older, CONTAINER, row("Failure"), NOW).since_ms == NOW, "older than the container (R-5)"


def test_d4_a_container_that_does_not_run_is_unknown_since_it_ended() -> None:
    first = of_running(None, CONTAINER, row("Success", "success", ""), NOW)
    ended = unknown(first, NOT_RUNNING, 110_000)
    assert ended == Report("Unknown", 110_000, 99_000, NOT_RUNNING)
    assert unknown(ended, NOT_RUNNING, 120_000) == ended


def test_d12_a_message_has_1024_bytes_and_no_half_character() -> None:
    message = cut_message("ä" * 600 + "\udcff")
    assert len(message.encode()) == 1024
    assert message == "ä" * 512
    assert cut_message("a" + "ä" * 600) == "a" + "ä" * 511
    assert of_running(None, CONTAINER, row("Failure", message="x" * 5000), NOW).message == "x" * 1024


def test_a_state_is_written_and_read_in_whole_seconds() -> None:
    report = Report("Failed", 50_900, 51_900, "no", "c://1")
    state = report.encode("p")
    assert state == {
        "name": "p",
        "state": "Failed",
        "lastProbeTime": "1970-01-01T00:00:51Z",
        "lastTransitionTime": "1970-01-01T00:00:50Z",
        "message": "no",
    }
    obj = {"status": {"podProbeStatuses": [{"uid": "u", "probeStates": [state, {"name": "q", "state": "Odd"}]}]}}
    assert read_reports(obj) == {("u", "p"): Report("Failed", 50_000, 51_000, "no")}
    assert Report("Unknown", 0).encode("p") == {"name": "p", "state": "Unknown"}


def test_an_object_that_nobody_has_checked_costs_only_what_is_wrong() -> None:
    broken = {"status": {"podProbeStatuses": [None, {"probeStates": 7}, {"uid": 1, "probeStates": [None, "x"]}]}}
    assert read_reports(broken) == {}
    assert read_reports({"status": 7}) == {}
