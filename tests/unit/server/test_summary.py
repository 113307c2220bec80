from datetime import datetime
from typing import Any

import pytest
from probelet.server.summary import Mark, probe_mark, restarts, span, state, trouble

from tests.unit.server.fake_view import AS_OF, CRASHED, FAILED, container, last, probe

NOW = datetime.fromisoformat(AS_OF)


@pytest.mark.parametrize(
    ("changes", "mark"),
    [
        ({}, Mark("good")),
        ({"last": last("warning", "redirect")}, Mark("good")),
        ({"result_run": 2, "last": FAILED}, Mark("failing", "2/3")),
        ({"result": "Failure", "result_run": 3, "last": FAILED}, Mark("bad", "3/3")),
        ({"result": "Failure", "result_run": 9, "last": FAILED}, Mark("bad", "3/3")),
        ({"result": "Failure", "result_run": 1, "success_threshold": 2}, Mark("recovering", "1/2")),
        ({"result": "Unknown", "result_run": 4, "failure_threshold": 30, "last": FAILED}, Mark("failing", "4/30")),
        # The manager's initial values before the first run: nothing is known yet, whatever is published.
        ({"result": "Failure", "result_run": 0, "last": None}, Mark("pending")),
        ({"result": "Success", "result_run": 0, "last": None}, Mark("pending")),
        ({"result": None}, Mark("pending")),
        # A prober error is discarded: the count beside it is of older runs.
        ({"result_run": 9, "last": last("error", "rpc error")}, Mark("error")),
        ({"result": "Failure", "result_run": 9, "last": last("error", "rpc error")}, Mark("bad")),
        ({"result": "Failure", "result_run": 0, "on_hold": True, "last": FAILED}, Mark("bad", "3/3")),
    ],
)
def test_probe_mark_for_each_situation(changes: dict[str, Any], mark: Mark) -> None:
    assert probe_mark(probe(**changes)) == mark


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Running"),
        ({"started": False}, "Starting"),
        ({"stopping_until": "2026-11-21T14:02:33.000Z"}, "Stopping, 22s"),
        ({"started": None}, "Running"),
        ({"state": "waiting", "reason": "CrashLoopBackOff"}, "CrashLoopBackOff"),
        ({"state": "waiting"}, "Waiting"),
        ({"state": "terminated", "reason": "Completed", "exit_code": 0}, "Completed"),
        ({"state": "terminated", "reason": "Error", "exit_code": 137}, "Error (exit 137)"),
    ],
)
def test_a_state_in_words(changes: dict[str, Any], words: str) -> None:
    assert state(container(**changes), NOW) == words


@pytest.mark.parametrize(
    ("due_at", "words"),
    [("2026-11-21T14:02:39.000Z", "3, next in 28s"), ("2026-11-21T14:02:10.000Z", "3, next now")],
)
def test_restarts_with_a_back_off(due_at: str, words: str) -> None:
    backoff = {"delay_seconds": 40, "step": 2, "due_at": due_at}
    assert restarts(container(state="waiting", restart_count=3, backoff=backoff), NOW) == words


def test_a_running_container_shows_no_back_off() -> None:
    backoff = {"delay_seconds": 40, "step": 2, "due_at": AS_OF}
    assert restarts(container(restart_count=3, backoff=backoff), NOW) == "3"


def test_trouble_lists_failed_probes_and_the_exit_before_a_wait() -> None:
    probes = {"liveness": probe(last=FAILED), "readiness": probe(), "startup": probe(last=None)}
    waiting = container(state="waiting", last_exit=CRASHED, probes=probes)
    assert trouble(waiting, NOW) == [
        "liveness, 10s ago: HTTP probe failed with statuscode: 500",
        "exit 1, 12s ago: Error",
    ]


def test_an_exit_shows_the_last_line_of_the_log() -> None:
    crashed = CRASHED | {"message": "starting\nno \x1b[31mport\n"}
    line = "no \N{REPLACEMENT CHARACTER}[31mport"
    assert trouble(container(state="waiting", last_exit=crashed), NOW) == [f"exit 1, 12s ago: {line}"]
    failed = container(state="terminated", exit_code=1, message=crashed["message"])
    assert trouble(failed, NOW) == [f"exit 1: {line}"]


def test_an_exit_that_the_runtime_lost_has_no_time() -> None:
    lost = CRASHED | {"at": None}
    assert trouble(container(state="waiting", last_exit=lost), NOW) == ["exit 1: Error"]


def test_a_failure_without_a_message_shows_its_cause() -> None:
    assert trouble(container(probes={"liveness": probe(last=last("failure", ""))}), NOW) == [
        "liveness, 10s ago: status"
    ]


def test_a_timeout_of_a_starved_prober_is_marked_as_such() -> None:
    late = {**last("failure", "context deadline exceeded"), "cause": "starved"}
    assert trouble(container(probes={"liveness": probe(last=late)}), NOW) == [
        "liveness, 10s ago, prober starved: context deadline exceeded"
    ]


def test_an_exit_before_the_current_run_is_no_trouble() -> None:
    assert trouble(container(last_exit=CRASHED), NOW) == []


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3, "0s"),
        (0.4, "0s"),
        (59.4, "59s"),
        (59.6, "1m00s"),
        (200, "3m20s"),
        (7500, "2h05m"),
        (86400 * 4 + 3 * 3600, "4d03h"),
    ],
)
def test_span_uses_at_most_two_units(seconds: float, words: str) -> None:
    assert span(seconds) == words
