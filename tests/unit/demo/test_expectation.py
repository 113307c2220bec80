"""The demo notices a pod that did not behave as expected."""

from typing import Any

from examples.demo.expectation import Facts, rows


def as_expected() -> Facts:
    return Facts(
        restarts={"web": 0, "slow-starter": 0, "deadlock": 2, "worker-exec": 0, "crash-looper": 3},
        exit_codes={"deadlock": {137}, "crash-looper": {1}},
        backoffs={"crash-looper": {10, 20, 40}},
        unready_after_ready={"web"},
        ready={"web": True},
        probes={"worker-exec": {"liveness": {"runs": 14, "failures": 0}}},
        started_after={"slow-starter": 7.2},
    )


def failing(facts: Facts) -> list[str]:
    return [row.name for row in rows(facts) if not row.good]


def test_facts_as_expected_make_no_failing_row() -> None:
    assert failing(as_expected()) == []


def test_without_facts_every_row_fails() -> None:
    assert len(failing(Facts())) == len(rows(Facts()))


def test_each_deviation_makes_one_row_fail() -> None:
    changes: dict[str, tuple[str, Any]] = {
        "web": ("unready_after_ready", set()),
        "slow-starter": ("started_after", {"slow-starter": 12.0}),
        "deadlock": ("exit_codes", {"deadlock": {0}, "crash-looper": {1}}),
        "worker-exec": ("probes", {"worker-exec": {"liveness": {"runs": 14, "failures": 5}}}),
        "crash-looper": ("backoffs", {"crash-looper": {10, 40}}),
    }
    for name, (field, value) in changes.items():
        facts = as_expected()
        setattr(facts, field, value)
        assert failing(facts) == [name]


def test_a_restart_has_three_failures_before_it() -> None:
    for failures, names in ((2, ["worker-exec"]), (3, [])):
        facts = as_expected()
        facts.restarts["worker-exec"] = 1
        facts.probes = {"worker-exec": {"liveness": {"runs": 14, "failures": failures}}}
        assert failing(facts) == names


def test_facts_are_collected_from_the_status_document() -> None:
    app = {"restart_count": 1, "state": "waiting", "ready": False, "started": False, "probes": {}}
    app |= {"last_exit": {"exit_code": 1}, "backoff": {"delay_seconds": 10.0}}
    facts = Facts()
    for second, change in enumerate(
        ({}, {"state": "running"}, {"state": "running", "ready": True, "started": True}, {})
    ):
        facts.look({"pods": [{"name": "app", "containers": [app | change]}]}, second)
    assert facts.unready_after_ready == {"app"}
    assert facts.backoffs == {"app": {10}}
    assert facts.started_after == {"app": 1}
