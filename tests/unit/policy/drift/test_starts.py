"""The starts of containers by image."""

from probelet.policy.drift import SAMPLES_MIN, Starts
from probelet.policy.drift.starts import CONTAINERS_MAX, SAMPLES_MAX

WEB = "default/Deployment/web"


def start(starts: Starts, image: str, *took: float, workload: str = WEB) -> None:
    for each in took:
        starts.started(workload, "app", image, each, 50)


def many(typical: float, count: int = 20) -> list[float]:
    return [typical + number * 0.05 for number in range(count)]


def test_a_new_image_that_starts_slower_is_found() -> None:
    starts = Starts()
    start(starts, "web:1", *many(30))
    assert list(starts.drifts()) == []
    start(starts, "web:2", *many(43))
    [found] = starts.drifts()
    assert (found.workload, found.container, found.image, found.before) == (WEB, "app", "web:2", "web:1")
    assert (round(found.compared.before), round(found.compared.after), found.compared.limit) == (31, 44, 50)


def test_one_image_says_nothing() -> None:
    starts = Starts()
    start(starts, "web:1", *many(10), *many(49))
    assert list(starts.drifts()) == list(starts.too_few()) == []


def test_few_starts_are_said() -> None:
    starts = Starts()
    start(starts, "web:1", *many(30))
    start(starts, "web:2", 44, 45)
    assert list(starts.drifts()) == []
    assert list(starts.too_few()) == [(WEB, "app", "web:2", 2)]
    start(starts, "web:2", *many(44, SAMPLES_MIN))
    assert list(starts.too_few()) == []


def test_starts_of_both_images_while_a_rollout_goes_on() -> None:
    starts = Starts()
    start(starts, "web:1", *many(30))
    for took in many(43):
        start(starts, "web:2", took)
        start(starts, "web:1", took - 13)
    assert [found.image for found in starts.drifts()] == ["web:2"]


def test_a_third_image_is_compared_with_the_second() -> None:
    starts = Starts()
    start(starts, "web:1", *many(20))
    start(starts, "web:2", *many(43))
    start(starts, "web:3", *many(43))
    assert list(starts.drifts()) == []


def test_what_is_kept_is_bounded() -> None:
    starts = Starts()
    for number in range(CONTAINERS_MAX + 10):
        start(starts, "web:1", 1, workload=f"default/Deployment/{number}")
    start(starts, "web:1", *many(30, 10 * SAMPLES_MAX))
    assert len(starts._containers) == CONTAINERS_MAX
    assert (WEB, "app") in starts._containers
    assert len(starts._containers[WEB, "app"].new.took) == SAMPLES_MAX
