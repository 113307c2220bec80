"""When the status is written."""

import pytest
from probelet.beside.probes.publishing import Publishing
from probelet.beside.probes.report import Report
from probelet.beside.probes.wanted import Key
from probelet.spec.text.duration import SECOND

KEY: Key = ("u", "p")
OTHER: Key = ("u", "q")
FAILED = Report("Failed", 1_000, 1_000, "no")
SUCCEEDED = Report("Succeeded", 1_000, 1_000)
SHAKY = Report("Succeeded", 1_000, 1_000, "last attempt failed: no")


def shown(report: Report, *, chance: float = 0.5) -> Publishing:
    """A schedule whose object has this state since the clock's zero."""
    publishing = Publishing(lambda: chance)
    publishing.begin(KEY, None, 0)
    publishing.record(KEY, report, 0)
    publishing.written({KEY: report}, 0)
    return publishing


def test_upstream_result_manager_first_same_changed_message_and_old() -> None:
    """OpenKruise's ``TestResultManagerSet``: what waits for a write after each result."""
    publishing = Publishing(lambda: 0.5)
    publishing.begin(KEY, None, 0)
    publishing.record(KEY, SUCCEEDED, 0)
    assert publishing.due_ns() == SECOND, "the first result"
    publishing.written({KEY: SUCCEEDED}, SECOND)
    publishing.record(KEY, SUCCEEDED, 2 * SECOND)
    assert publishing.due_ns() == 3_601 * SECOND, "the same result: an hour after the last write"
    publishing.record(KEY, Report("Failed", 2_000), 3 * SECOND)
    assert publishing.due_ns() == 4 * SECOND, "another state"


@pytest.mark.parametrize("report", [FAILED, SUCCEEDED])
def test_d8_what_a_probe_prints_goes_with_the_next_write(report: Report) -> None:
    publishing = shown(report)
    beat = publishing.due_ns()
    publishing.record(KEY, Report(report.state, 1_000, 5_000, "other"), 5 * SECOND)
    assert publishing.due_ns() == beat


def test_d8_why_there_is_no_result_waits_thirty_seconds() -> None:
    publishing = shown(Report("Unknown", 1_000, 1_000, "container not running"))
    other = Report("Unknown", 1_000, 5_000, "the host is refused")
    publishing.record(KEY, other, 5 * SECOND)
    assert publishing.due_ns() == 30 * SECOND
    publishing.record(KEY, Report("Unknown", 1_000, 6_000, "container not running"), 6 * SECOND)
    assert publishing.due_ns() == 3_600 * SECOND, "as the object has it: only the heartbeat is left"
    publishing.record(KEY, other, 40 * SECOND)
    assert publishing.due_ns() == 41 * SECOND


def test_a_new_probe_says_nothing_before_its_first_result_unless_that_takes_long() -> None:
    publishing = Publishing(lambda: 0.5)
    publishing.begin(KEY, None, 0)
    publishing.record(KEY, Report("Unknown", 0), 0)
    assert publishing.due_ns() == 10 * SECOND
    publishing.record(KEY, SUCCEEDED, 3 * SECOND)
    assert publishing.due_ns() == 4 * SECOND
    refused = Publishing(lambda: 0.5)
    refused.begin(KEY, None, 0)
    refused.record(KEY, Report("Unknown", 0, 0, "the host is refused"), 0)
    assert refused.due_ns() == SECOND


@pytest.mark.parametrize(("report", "seconds"), [(FAILED, 180), (SUCCEEDED, 3_600), (Report("Unknown", 1_000), 3_600)])
def test_d8_heartbeats_with_a_jitter_of_a_tenth(report: Report, seconds: int) -> None:
    due = [shown(report, chance=chance).due_ns() for chance in (0.0, 0.5, 1.0)]
    assert due == [int(seconds * SECOND * share) for share in (0.9, 1.0, 1.1)]


def test_d8_a_node_with_many_probes_has_one_heartbeat_for_all_and_not_the_earliest_of_each() -> None:
    chances = iter(range(1_000))
    publishing = Publishing(lambda: (next(chances) % 10) / 10)
    keys = [("u", str(number)) for number in range(110)]
    for key in keys:
        publishing.begin(key, None, 0)
    dues = []
    for _ in range(10):
        publishing.written(dict.fromkeys(keys, SUCCEEDED), 0)
        dues.append((publishing.due_ns() or 0) / SECOND)
    assert 3_500 < sum(dues) / len(dues) < 3_700


def test_d8_a_new_container_is_published_although_its_state_is_the_same() -> None:
    publishing = shown(FAILED)
    publishing.record(KEY, Report("Failed", 9_000, 9_000, "no"), 9 * SECOND)
    assert publishing.due_ns() == 10 * SECOND


def test_d9_changes_join_the_first_and_none_puts_it_off() -> None:
    publishing = shown(FAILED)
    publishing.begin(OTHER, None, 0)
    publishing.record(KEY, SUCCEEDED, 10 * SECOND)
    for tenth in range(10):
        publishing.record(OTHER, Report("Failed", tenth * 1_000), 10 * SECOND + tenth * SECOND // 10)
        publishing.record(KEY, Report("Succeeded", tenth * 1_000), 10 * SECOND + tenth * SECOND // 10)
    assert publishing.due_ns() == 11 * SECOND


def test_d9_a_state_that_goes_back_before_its_write_needs_none() -> None:
    publishing = shown(FAILED)
    publishing.record(KEY, SUCCEEDED, 10 * SECOND)
    publishing.record(KEY, FAILED, 10 * SECOND)
    assert publishing.due_ns() == 180 * SECOND


def test_d9_a_change_while_a_write_is_under_way_is_written_after_it() -> None:
    publishing = shown(SUCCEEDED)
    publishing.record(KEY, Report("Unknown", 5_000), 5 * SECOND)
    publishing.record(KEY, FAILED, 7 * SECOND)
    publishing.written({KEY: Report("Unknown", 5_000)}, 8 * SECOND)
    assert publishing.due_ns() == 9 * SECOND
    publishing.written({KEY: FAILED}, 9 * SECOND)
    assert publishing.due_ns() == 189 * SECOND


def test_d8_a_probe_that_goes_is_a_change() -> None:
    publishing = shown(FAILED)
    publishing.forget(KEY, 5 * SECOND)
    assert publishing.due_ns() == 65 * SECOND, "it waits for other news, but not for ever"
    publishing.written({}, 6 * SECOND)
    assert publishing.due_ns() is None


def test_f4_a_state_that_the_object_has_already_is_not_written_again() -> None:
    publishing = Publishing(lambda: 0.5)
    publishing.begin(KEY, FAILED, 0)
    publishing.record(KEY, FAILED, 0)
    assert publishing.due_ns() == 180 * SECOND


def test_a_failed_attempt_below_the_threshold_costs_no_write_while_no_probe_of_the_node_has_failed() -> None:
    publishing = shown(SUCCEEDED)
    publishing.record(KEY, SHAKY, 5 * SECOND)
    assert publishing.due_ns() == 3_600 * SECOND


def test_it_is_published_with_the_first_failure_of_the_node_and_at_once_after_that() -> None:
    publishing = shown(SUCCEEDED)
    publishing.begin(OTHER, None, 0)
    publishing.written({KEY: SUCCEEDED, OTHER: SUCCEEDED}, 0)
    publishing.record(OTHER, FAILED, 10 * SECOND)
    assert publishing.due_ns() == 11 * SECOND
    publishing.written({KEY: SUCCEEDED, OTHER: FAILED}, 11 * SECOND)
    publishing.record(KEY, SHAKY, 12 * SECOND)
    assert publishing.due_ns() == 13 * SECOND
    publishing.written({KEY: SHAKY, OTHER: FAILED}, 13 * SECOND)
    assert publishing.due_ns() == 43 * SECOND, "it is read again, because an attempt that succeeds is no news"
    publishing.forget(OTHER, 14 * SECOND)
    publishing.written({KEY: SUCCEEDED}, 15 * SECOND)
    publishing.record(KEY, SHAKY, 16 * SECOND)
    assert publishing.due_ns() == 3_615 * SECOND, "no probe of the node has failed any more"


def test_a_probe_that_flaps_below_its_threshold_is_written_twice_in_half_a_minute_at_most() -> None:
    publishing, writes, now = shown(SUCCEEDED), 0, 0
    publishing.begin(OTHER, FAILED, 0)
    while now < 300 * SECOND:
        now += SECOND
        report = SHAKY if now // SECOND % 2 else SUCCEEDED
        publishing.record(KEY, report, now)
        due = publishing.due_ns()
        if due is not None and due <= now:
            writes += 1
            publishing.written({KEY: report, OTHER: FAILED}, now)
    assert writes <= 2 * 10 + 2
