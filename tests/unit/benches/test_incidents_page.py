"""docs/incidents.md is what its results say, and a few clusters still come out as they say."""

import json

import pytest

from benches.incidents.__main__ import one
from benches.incidents.page import PAGE, RESULTS, render
from benches.incidents.quiet import quiet
from benches.incidents.world import FAULTS


def test_the_page_is_rendered_from_the_results() -> None:
    assert PAGE.read_text() == render(json.loads(RESULTS.read_text()))


def test_the_goal_is_reached() -> None:
    found = json.loads(RESULTS.read_text())
    assert len(found["random"]) >= 500
    assert sum(row["is_right"] for row in found["random"]) >= 0.95 * len(found["random"])
    assert sum(row["hours"] for row in found["quiet"]) >= 10_000
    assert sum(row["incidents"] for row in found["quiet"]) == 0
    assert found["large"]["kib"] <= 1_024
    assert len(found["large"]["evidence"]) < 1_000
    assert len(found["cluster"]["evidence"]) < 1_000
    history = found["history"]
    assert history["least_with_ns"] - history["least_without_ns"] <= 20
    assert history["bytes"] <= 300
    assert (found["readers"]["readers"], found["readers"]["pods"]) == (50, 500)
    assert found["readers"]["more"] <= 2


@pytest.mark.parametrize("seed", range(3 * len(FAULTS)))
def test_a_cluster_comes_out_as_it_did(seed: int) -> None:
    found = json.loads(RESULTS.read_text())
    row = next(each for each in found["random"] if each["seed"] == found["seed"] + seed)
    assert one(row["seed"]) == row


def test_an_hour_by_chance_is_quiet() -> None:
    assert [each.incidents for each in quiet(100, 5)] == [0, 0, 0]
