"""The production pod machines of a node in virtual time: their restarts equal the model's to the nanosecond."""

from dataclasses import replace

import pytest
from probelet.lab.stress.outcome import Memory, Outcome, crashing, histogram, judge, shortened
from probelet.lab.stress.play import failures, play_virtual
from probelet.lab.stress.scene import AXES, CURVES, Scene, matrix
from probelet.lab.stress.virtual import SceneNode

SECOND = 1_000_000_000


def play(scene: Scene, seconds: int) -> tuple[SceneNode, Outcome]:
    node = SceneNode(scene)
    node.run_until(seconds * SECOND)
    return node, judge(scene, node.gate, node.sink, seconds * SECOND, node.end())


def starts(node: SceneNode, pod: int = 0, container: str = "crash-0") -> list[float]:
    return [start.at_ns / SECOND for start in crashing(node.gate)[pod, container]]


# By curve: the seconds of the first restarts of a container that crashes at once.
TIMELINES = {
    "10/300": [0, 10, 30, 70, 150, 310, 610, 910, 1210, 1510],
    "1/60": [0, 1, 3, 7, 15, 31, 63, *range(123, 1801, 60)],
    "10/30": [0, 10, *range(30, 1801, 30)],
    "1/1": list(range(301)),
}


@pytest.mark.parametrize("curve", CURVES)
def test_restarts_follow_the_timeline_of_their_curve_on_every_pod(curve: str) -> None:
    node, outcome = play(Scene(curve, pods=3), 300 if curve == "1/1" else 1800)
    assert [starts(node, pod)[1:] for pod in range(3)] == [TIMELINES[curve]] * 3
    assert (outcome.exact, outcome.early) == (True, 0)
    assert outcome.restarts == outcome.expected_restarts == 3 * len(TIMELINES[curve])


@pytest.mark.parametrize(
    "scene", list(dict.fromkeys(replace(s, pods=min(s.pods, 4)) for s in matrix())), ids=lambda s: s.name
)
def test_every_scene_of_the_matrix_restarts_as_the_model_predicts(scene: Scene) -> None:
    _, outcome = play(scene, 60 if scene.curve == "1/1" else 1800)
    if scene.start_cost_ns and scene.containers > 1:
        assert outcome.expected_restarts is None
    else:
        assert outcome.exact is True
        assert outcome.restarts == outcome.expected_restarts
    assert outcome.early == 0


def test_the_matrix_has_every_axis_and_every_curve() -> None:
    scenes = list(matrix())
    assert {scene.curve for scene in scenes} == set(CURVES)
    for axis, values in AXES.items():
        assert {getattr(scene, axis) for scene in scenes} >= set(values)


def test_the_back_off_after_a_probe_kill_counts_from_the_exit_before() -> None:
    node, outcome = play(Scene("10/300", pods=1, kill_ns=30 * SECOND), 900)
    assert starts(node)[1:] == [30, 60, 90, 120, 190, 300, 490, 820, 850]
    assert outcome.exact is True


def test_under_on_failure_a_container_that_succeeds_stays_down() -> None:
    node, outcome = play(Scene(pods=4, failing=0.5, policy="OnFailure"), 60)
    assert [len(starts(node, pod)) for pod in range(4)] == [7, 7, 1, 1]
    assert outcome.exact is True


def test_the_cost_of_a_start_delays_the_next_exit() -> None:
    node, _ = play(Scene(pods=1, start_cost_ns=SECOND // 2), 10)
    assert starts(node) == [0, 0.5, 2, 4.5, 9]


def test_a_client_with_a_low_qps_writes_fewer_statuses_and_changes_no_restart() -> None:
    free_node, free = play(Scene(pods=50), 120)
    tight_node, tight = play(Scene(pods=50, api_qps=5), 120)
    assert starts(free_node, 7) == starts(tight_node, 7)
    assert free.status_changes == tight.status_changes
    assert tight.status_writes <= 10 + 5 * 120 < free.status_writes
    assert tight.pods_waiting_max == 50
    assert tight.write_delay_ms.max > free.write_delay_ms.max == 0
    assert sum(free.writes_per_10_seconds) == free.status_writes


def test_the_status_writes_of_a_restart_are_counted() -> None:
    _, outcome = play(Scene(pods=10), 600)
    assert 2 < outcome.writes_per_restart < 5, "the KEP assumes 5"


def test_a_scene_with_too_many_restarts_is_cut_short() -> None:
    scene = Scene("1/1", pods=1000)
    until = shortened(scene, 1800 * SECOND, 20_000)
    assert until == 10 * SECOND
    assert shortened(Scene("10/300"), 1800 * SECOND, 20_000) == 1800 * SECOND


def test_a_restart_that_is_early_or_differs_from_the_model_is_a_failure() -> None:
    outcome = play_virtual(Scene(pods=1), 60)
    assert failures([outcome]) == []
    import msgspec

    memory = msgspec.structs.replace(outcome.memory, entries_after_gc=3)
    wrong = msgspec.structs.replace(outcome, early=2, exact=False, memory=memory)
    assert failures([wrong]) == [
        "1/60 pods=1: 2 restarts were early",
        "1/60 pods=1: restarts differ from the model",
        "1/60 pods=1: 3 back-off entries outlived their pods",
    ]


def test_the_judge_finds_an_early_restart() -> None:
    node, _ = play(Scene(pods=1), 60)
    (history,) = node.gate.starts.values()
    history[3] = replace(history[3], at_ns=history[3].at_ns - SECOND)
    outcome = judge(node.scene, node.gate, node.sink, 60 * SECOND, Memory(0, 0, 0))
    assert (outcome.exact, outcome.early) == (False, 2)


def test_a_node_keeps_an_entry_for_each_container_that_waits_and_none_ten_minutes_after_its_pods() -> None:
    node = SceneNode(Scene(pods=4, containers=3))
    node.run_until(100 * SECOND)
    assert node.end() == Memory(entries=8, entries_after_gc=0, timers=4)


def test_the_judge_finds_an_entry_that_outlives_its_pod() -> None:
    node = SceneNode(Scene(pods=2))
    node.run_until(100 * SECOND)
    node.gate.forget = lambda *_: None  # type: ignore[method-assign]
    assert node.end().entries_after_gc == 2


def test_a_histogram_counts_restarts_by_their_lateness() -> None:
    _, outcome = play(Scene(pods=3), 60)
    assert [(bucket.le_ms, bucket.count) for bucket in outcome.lateness if bucket.count] == [(0, 15)]
    buckets = histogram([0, 1, 1_000_000, 1_000_001, 49_999_999, 60 * SECOND])
    assert {bucket.le_ms: bucket.count for bucket in buckets if bucket.count} == {0: 1, 1: 2, 2: 1, 50: 1, None: 1}
