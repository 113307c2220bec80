"""The slowest answers of histories by image."""

import random

import pytest
from probelet.policy.drift import SAMPLES_MIN, Answers, Measured
from probelet.policy.drift.answers import WINDOW_S, WINDOW_VALUES_MAX
from probelet.policy.drift.releases import MEASURED_MAX, SAMPLES_MAX

WEB = Measured("default/Deployment/web", "app", "readiness answers")
PERIOD_S = 60


class Node:
    """Pods whose histories are read each minute."""

    def __init__(self, pods: int = 3, seed: int = 1) -> None:
        self.answers = Answers()
        self.now_s = 0.0
        self.chance = random.Random(seed)
        self.pods = pods

    def run(self, image: str, typical: float, minutes: int) -> None:
        for _ in range(minutes):
            self.now_s += PERIOD_S
            for _ in range(self.pods):
                slowest = max(self.chance.lognormvariate(0, 0.3) for _ in range(64)) * typical
                self.answers.answered(self.now_s, WEB, image, slowest, 1)


def test_an_image_that_answers_slower_is_found_with_the_99th_percentile_of_all_answers() -> None:
    node = Node()
    node.run("web:1", 0.15, 300)
    node.run("web:2", 0.4, 300)
    [found] = node.answers.drifts()
    assert (found.of, found.image, found.before, found.compared.limit) == (WEB, "web:2", "web:1", 1)
    chance = random.Random(7)
    true = sorted(chance.lognormvariate(0, 0.3) for _ in range(100_000))[99_000]
    assert found.compared.before == pytest.approx(0.15 * true, rel=0.1)
    assert found.compared.after == pytest.approx(0.4 * true, rel=0.1)


def test_some_bad_minutes_of_all_pods_are_a_window_or_two_and_no_drift() -> None:
    node = Node(pods=20)
    node.run("web:1", 0.2, 300)
    node.run("web:2", 0.8, 2 * WINDOW_S // PERIOD_S)
    node.run("web:2", 0.2, 300)
    assert list(node.answers.drifts()) == []


def test_a_comparison_needs_eight_windows() -> None:
    node = Node()
    node.run("web:1", 0.15, 300)
    node.run("web:2", 0.4, SAMPLES_MIN * WINDOW_S // PERIOD_S)
    assert list(node.answers.drifts()) == []
    node.run("web:2", 0.4, 1)
    assert len(list(node.answers.drifts())) == 1


def test_chance_is_no_drift() -> None:
    for seed in range(30):
        node = Node(pods=1, seed=seed)
        node.run("web:1", 0.4, 200)
        node.run("web:2", 0.4, 200)
        assert list(node.answers.drifts()) == []


def test_what_is_kept_is_bounded() -> None:
    answers = Answers()
    for number in range(3 * MEASURED_MAX):
        answers.answered(0, WEB._replace(workload=str(number)), "web:1", 0.1, 1)
    assert len(answers._windows) == 2 * MEASURED_MAX
    for number in range(10 * WINDOW_VALUES_MAX):
        answers.answered(0, WEB, "web:1", number, 1)
    assert len(answers._windows[WEB, "web:1"].took) == WINDOW_VALUES_MAX
    for number in range(2 * SAMPLES_MAX):
        answers.answered(number * WINDOW_S, WEB, "web:1", 0.1, 1)
    assert len(answers._releases._known[WEB].new.took) == SAMPLES_MAX
