"""What other settings would have made of an incident that a real ``probelet run`` recorded."""

from datetime import datetime
from typing import Any

import pytest
from probelet.lab.recording import Recording
from probelet.lab.whatif import Window, settings_of, whatif
from probelet.lab.whatif.changes import places


def played(incident: Recording, *settings: str, **options: Any) -> Any:
    return whatif(incident, settings_of(incident, settings), **options)


def apart(one: str, other: str) -> float:
    return round((datetime.fromisoformat(other) - datetime.fromisoformat(one)).total_seconds(), 1)


def test_as_it_was_everything_is_as_it_was(incident: Recording) -> None:
    document = whatif(incident, {place: [] for place, _ in places(incident)})
    assert document["check"] == {"reproduced": True, "differences": 0}
    assert [row["outcome"] for row in document["restarts"]] == ["same"]
    assert [row["outcome"] for row in document["outages"]] == ["same", "same"]
    assert document["answers"] == {"recorded": 91, "carried": 0, "unknown": 0}


def test_a_restart_that_would_not_have_come_is_unknown_after_it_really_came(incident: Recording) -> None:
    [row] = played(incident, "liveness.failureThreshold=5")["restarts"]
    assert (row["outcome"], row["instead"], row["if_healthy"]) == ("avoided", None, None)
    assert row["unknown_after"] == row["really"]
    assert apart(row["really"], row["if_failing"]) == 4.0, "two more failures, two seconds apart"


@pytest.mark.parametrize(("assume", "later"), [("healthy", None), ("failing", 4.0)])
def test_an_assumption_makes_it_known(incident: Recording, assume: Any, later: float | None) -> None:
    document = played(incident, "liveness.failureThreshold=5", assume=assume)
    [row] = document["restarts"]
    assert (document["assume"], row["unknown_after"]) == (assume, None)
    assert row["outcome"] == ("avoided" if later is None else "later")
    assert (row["instead"] and apart(row["really"], row["instead"])) == later


def test_an_earlier_restart_is_known(incident: Recording) -> None:
    row = played(incident, "web/app.liveness.failureThreshold=2")["restarts"][0]
    assert (row["outcome"], row["unknown_after"]) == ("earlier", None)
    assert apart(row["instead"], row["really"]) == 2.0


def test_a_container_that_lived_on_is_killed_in_the_play_only(incident: Recording) -> None:
    rows = played(incident, "db/postgres.liveness.failureThreshold=2")["restarts"]
    assert [(row["outcome"], row["really"], row["instead_by"]) for row in rows] == [("added", None, "liveness")]


def test_a_longer_timeout_does_not_say_what_comes_after_the_old_one(incident: Recording) -> None:
    document = played(incident, "liveness.timeoutSeconds=2")
    assert document["answers"]["unknown"] == 4
    assert [row["outcome"] for row in document["restarts"]] == ["avoided"]


def test_an_outage_is_noticed_earlier_and_later(incident: Recording) -> None:
    for threshold, outcome, seconds in ((1, "earlier", -4.0), (5, "later", 4.0)):
        rows = played(incident, f"db/postgres.readiness.failureThreshold={threshold}")["outages"]
        assert [(row["outcome"], row["noticed_seconds"]) for row in rows] == [
            (outcome, pytest.approx(seconds, abs=0.01))
        ]


def test_an_outage_that_ends_first_is_not_noticed(incident: Recording) -> None:
    [row] = played(incident, "db/postgres.readiness.failureThreshold=9")["outages"]
    assert (row["outcome"], row["instead_from"], row["noticed_seconds"]) == ("avoided", None, None)


def test_a_container_whose_probe_begins_later_is_ready_later(incident: Recording) -> None:
    [row] = [row for row in played(incident, "db/postgres.readiness.initialDelaySeconds=5")["starts"]]
    assert row["container"] == "postgres"
    assert 3 <= apart(row["really"], row["instead"]) <= 8


def test_a_window_lists_what_happened_in_it(incident: Recording) -> None:
    [row] = played(incident, "liveness.failureThreshold=5")["restarts"]
    at_us = round(datetime.fromisoformat(row["really"]).timestamp() * 1e6)
    for window, found in ((Window(at_us - 1_000_000), 1), (Window(at_us + 1_000_000), 0), (Window(0, at_us - 1), 0)):
        assert len(played(incident, "liveness.failureThreshold=5", window=window)["restarts"]) == found
