"""Times by image."""

from probelet.policy.drift import SAMPLES_MIN, Measured, Releases
from probelet.policy.drift.releases import MEASURED_MAX, SAMPLES_MAX

WEB = "default/Deployment/web"
APP = Measured(WEB, "app", "starts")


def start(starts: Releases, image: str, *took: float, workload: str = WEB) -> None:
    for each in took:
        starts.took(Measured(workload, "app", "starts"), image, each, 50)


def many(typical: float, count: int = 20) -> list[float]:
    return [typical + number * 0.05 for number in range(count)]


def test_a_new_image_that_starts_slower_is_found() -> None:
    starts = Releases()
    start(starts, "web:1", *many(30))
    assert list(starts.drifts()) == []
    start(starts, "web:2", *many(43))
    [found] = starts.drifts()
    assert (found.of, found.image, found.before) == (APP, "web:2", "web:1")
    assert (round(found.compared.before), round(found.compared.after), found.compared.limit) == (31, 44, 50)


def test_one_image_says_nothing() -> None:
    starts = Releases()
    start(starts, "web:1", *many(10), *many(49))
    assert list(starts.drifts()) == list(starts.too_few()) == []


def test_few_starts_are_said() -> None:
    starts = Releases()
    start(starts, "web:1", *many(30))
    start(starts, "web:2", 44, 45)
    assert list(starts.drifts()) == []
    assert list(starts.too_few()) == [(APP, "web:2", 2)]
    start(starts, "web:2", *many(44, SAMPLES_MIN))
    assert list(starts.too_few()) == []


def test_starts_of_both_images_while_a_rollout_goes_on() -> None:
    starts = Releases()
    start(starts, "web:1", *many(30))
    for took in many(43):
        start(starts, "web:2", took)
        start(starts, "web:1", took - 13)
    assert [found.image for found in starts.drifts()] == ["web:2"]


def test_a_third_image_is_compared_with_the_second() -> None:
    starts = Releases()
    start(starts, "web:1", *many(20))
    start(starts, "web:2", *many(43))
    start(starts, "web:3", *many(43))
    assert list(starts.drifts()) == []


def test_a_rollout_that_was_taken_back_is_no_drift_any_more() -> None:
    starts = Releases()
    start(starts, "web:1", *many(30))
    start(starts, "web:2", *many(43))
    start(starts, "web:1", *many(30, SAMPLES_MIN - 1))
    assert [found.image for found in starts.drifts()] == ["web:2"]
    start(starts, "web:1", 30)
    assert list(starts.drifts()) == []
    start(starts, "web:2", *many(43))
    assert [found.image for found in starts.drifts()] == ["web:2"]


def test_what_is_kept_is_bounded() -> None:
    starts = Releases()
    for number in range(MEASURED_MAX + 10):
        start(starts, "web:1", 1, workload=f"default/Deployment/{number}")
    start(starts, "web:1", *many(30, 10 * SAMPLES_MAX))
    assert len(starts._known) == MEASURED_MAX
    assert APP in starts._known
    assert len(starts._known[APP].new.took) == SAMPLES_MAX
