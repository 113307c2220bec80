"""The verdict and the outcome of a pod, in words."""

from typing import Any

import pytest
from probelet.lab.picture.document import PodState, SimulateDocument
from probelet.lab.picture.wording import BAD, FAIR, GOOD, figures, grade, headline, outcome, share, summary

from tests.unit.lab.picture.documents import document, pod, requests, spans, verdict


def played(faults: int = 1, **found: Any) -> SimulateDocument:
    fault: Any = {"kind": "k", "target": "auth", "label": "slow", "from_seconds": 1.0, "to_seconds": 2.0}
    row = pod("default/p", spans(100.0, ("ready", 0.0)), [])
    return document("s", "t", 100.0, [fault] * faults, [row], [], verdict(**found))


@pytest.mark.parametrize(
    ("made", "words", "expected"),
    [
        (played(), "Holds", GOOD),
        (played(requests=requests(10, 2, 0)), "Holds, but answers late", FAIR),
        (played(requests=requests(10, 2, 1)), "Recovers as the fault ends", FAIR),
        (played(faults=0, restarts=1), "Recovers", FAIR),
        (played(recovers_after_seconds=312.0, kills=1), "Recovers 312 s after the fault ends", FAIR),
        (played(faults=0, recovers_after_seconds=312.0, kills=1), "Recovers after 312 s", FAIR),
        (played(recovered=False, recovers_after_seconds=None), "Never recovers", BAD),
    ],
)
def test_the_headline(made: SimulateDocument, words: str, expected: tuple[str, str]) -> None:
    assert headline(made, made["scenario"]) == words
    assert grade(made) == expected


def test_an_interrupted_simulation_is_not_called_hopeless() -> None:
    made = played(recovered=False, recovers_after_seconds=None)
    made["played_seconds"] = 50.0
    assert headline(made, made["scenario"]) == "Interrupted before it recovered"


def test_the_summary_says_what_happened_first() -> None:
    made = played(
        recovers_after_seconds=9.0,
        first_unready_seconds=12.0,
        first_kill_seconds=31.5,
        kills=2,
        requests=requests(1_000, 20, 5),
    )
    assert summary(made, made["scenario"]) == (
        "0.5 % of all requests are lost; 2 % are served late; the first replica leaves its Service at 12 s; a probe"
        " kills the first container at 31.5 s."
    )
    made["verdict"]["recovered"] = False
    assert summary(made, made["scenario"]).endswith(" Still so after 100 s, when the simulation ends.")


def test_nothing_noticed_is_said_as_well() -> None:
    made = played(requests=requests(180_000, 0, 0))
    assert summary(made, made["scenario"]) == (
        "No pod leaves its Service, no container is killed and all 180,000 requests are served in time."
    )


def test_figures_without_requests_do_not_claim_that_none_was_lost() -> None:
    assert dict(figures(verdict()))["requests lost"] == "none sent"
    assert dict(figures(verdict(requests=requests(5, 0, 0))))["requests lost"] == "0"


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 9, "0 %"), (9, 9, "100 %"), (1, 10**6, "under 0.01 %"), (1, 3, "33.3 %"), (99_999, 10**5, "over 99.9 %")],
)
def test_a_share_is_none_or_all_only_if_it_is(part: int, whole: int, text: str) -> None:
    assert share(part, whole) == text


@pytest.mark.parametrize(
    ("states", "words", "numbers", "is_well"),
    [
        ([("starting", 0.0), ("ready", 5.0)], "ready", "", True),
        ([("ready", 0.0), ("unready", 10.0), ("ready", 30.0)], "ready again", "out 20 s", True),
        ([("ready", 0.0), ("unready", 10.0)], "unready since 10 s", "out 90 s", False),
        ([("pending", 0.0), ("starting", 1.0)], "never ready", "", False),
        ([("starting", 0.0), ("back_off", 30.0)], "back-off", "", False),
        ([("ready", 0.0), ("terminating", 40.0), ("gone", 42.0)], "gone at 42 s", "", True),
        ([("starting", 0.0), ("gone", 42.0)], "gone, never ready", "", False),
        ([("ready", 0.0), ("terminating", 40.0), ("gone", 100.0)], "gone at 100 s", "", True),
        ([("ready", 0.0), ("terminating", 90.0)], "ending since 90 s", "", False),
    ],
)
def test_the_outcome_of_a_pod(states: list[tuple[PodState, float]], words: str, numbers: str, is_well: bool) -> None:
    assert outcome(pod("default/p", spans(100.0, *states), [])) == (words, numbers, is_well)


def test_a_pod_that_never_ran_says_so() -> None:
    assert outcome(pod("default/p", [], [])) == ("never ran", "", False)


def test_restarts_are_part_of_the_outcome() -> None:
    row = pod("default/p", spans(100.0, ("ready", 0.0)), [], [(5.0, "liveness")])
    assert outcome(row) == ("ready", "1 restart", True)
