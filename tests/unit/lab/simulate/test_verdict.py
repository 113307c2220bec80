"""What a history comes to."""

import pytest
from probelet.lab.simulate.verdict import left, outages, verdict
from probelet.virtual.cluster import Kill

from tests.unit.lab.simulate.made import BEGAN, END, played, pod, service

READY = [(0.0, 0), (12.0, 3)]


def test_nothing_happened() -> None:
    found = verdict(played([service(READY)], [pod("a", ("starting", 0.0), ("ready", 12.0))], [(60.0, 90.0)]))
    assert found == {
        "recovered": True,
        "recovers_after_seconds": 0.0,
        "first_unready_seconds": None,
        "unready_pods_max": 0,
        "first_kill_seconds": None,
        "kills": 0,
        "restarts": 0,
        "requests": {"offered": 58_000, "served": 58_000, "late": 0, "lost": 0},
        "longest_outage_seconds": 0.0,
    }


def test_all_replicas_leave_and_come_back() -> None:
    endpoints = [*READY, (83.0, 1), (84.0, 0), (156.5, 2), (159.25, 3)]
    gone = pod("a", ("ready", 12.0), ("unready", 83.0), ("ready", 159.0))
    found = verdict(played([service(endpoints, [(84.0, 156.0)])], [gone], [(60.0, 150.0)]))
    assert (found["recovered"], found["recovers_after_seconds"]) == (True, 9.25)
    assert (found["first_unready_seconds"], found["unready_pods_max"]) == (83.0, 3)
    assert found["longest_outage_seconds"] == 72.5
    assert found["requests"]["lost"] == 7_200


def test_what_is_missing_at_the_end_never_recovers() -> None:
    assert not verdict(played([service([*READY, (100.0, 2)])]))["recovered"]
    assert not verdict(played([service(READY, [(590.0, END)])]))["recovered"]
    assert verdict(played([service([*READY, (100.0, 2), (599.0, 3)])]))["recovered"]


def test_a_fault_without_an_end_counts_from_its_beginning() -> None:
    endpoints = [*READY, (110.0, 2), (140.0, 3)]
    assert verdict(played([service(endpoints)], faults=[(100.0, None)]))["recovers_after_seconds"] == 40.0
    assert verdict(played([service(endpoints)], faults=[(100.0, 130.0)]))["recovers_after_seconds"] == 10.0


def test_the_end_of_a_loss_is_the_endpoint_that_ended_it() -> None:
    endpoints = [*READY, (100.0, 2), (130.4, 3)]
    found = verdict(played([service(endpoints, [(100.0, 131.0)])], faults=[(100.0, None)]))
    assert found["recovers_after_seconds"] == 30.4


@pytest.mark.parametrize(
    ("endpoints", "lost", "spans"),
    [
        ([*READY, (100.0, 0), (130.0, 3)], [], [(100.0, 130.0)]),
        (READY, [(50.0, 60.0), (60.0, 70.0), (90.0, 91.0)], [(50.0, 70.0), (90.0, 91.0)]),
        ([*READY, (100.0, 0), (130.0, 3)], [(125.0, 140.0)], [(100.0, 140.0)]),
        ([(0.0, 0)], [], [(BEGAN, END)]),
    ],
)
def test_times_without_any_answer(
    endpoints: list[tuple[float, int]], lost: list[tuple[float, float]], spans: list[tuple[float, float]]
) -> None:
    assert outages(service(endpoints, lost), BEGAN) == spans


def test_a_pod_that_is_deleted_did_not_become_unready() -> None:
    ended = pod("a", ("ready", 12.0), ("unready", 50.0), ("ready", 60.0), ("terminating", 80.0), ("gone", 82.0))
    assert list(left(ended)) == [50.0]


def test_kills_before_the_traffic_do_not_count() -> None:
    kills = [Kill(at, "a", "web", "liveness", "") for at in (5.0, 40.0, 50.0)]
    found = verdict(played([service(READY)], [pod("a", ("ready", 12.0), kills=kills)]))
    assert (found["kills"], found["first_kill_seconds"]) == (2, 40.0)


def test_missing_replicas_of_two_services_at_one_moment_add_up() -> None:
    first = service([*READY, (100.0, 1), (110.0, 3), (200.0, 2)])
    second = service([*READY, (109.0, 2), (111.0, 3)])
    assert verdict(played([first, second]))["unready_pods_max"] == 3
