"""PO115: which releases the rule compares, and its findings."""

from pathlib import Path

import pytest
from probelet.lint.observed.container import ObservedContainer, ObservedProbe, Start
from probelet.lint.observed.prometheus import observed_by_prometheus

from tests.unit.lint.observed.test_observations import found


def rows(release: str, took: float, *, at: float = 0, count: int = 8, image: str = "") -> list[ObservedContainer]:
    return [
        ObservedContainer(
            "default", f"web-{release}-{number}", "web", starts=(Start(at + number, took + number / 10),), image=image
        )
        for number in range(count)
    ]


def start_of(release: str, number: int, took: float, *, at: float) -> ObservedContainer:
    return ObservedContainer("default", f"web-{release}-{number}", "web", starts=(Start(at + number, took),))


def answers(release: str, slow: float, *, at: float = 0) -> list[ObservedContainer]:
    return [
        ObservedContainer(
            "default",
            f"web-{release}-{number}",
            "web",
            {"liveness": ObservedProbe(runs=500, slow=slow + number / 1_000, attempts=500)},
            starts=(Start(at + number, 1),),
        )
        for number in range(8)
    ]


@pytest.mark.parametrize(
    ("observed", "rules"),
    [
        ([*rows("a", 15), *rows("b", 30, at=100)], {"PO115": "warning"}),
        ([*rows("a", 15), *rows("b", 44, at=100)], {"PO115": "error"}),
        ([*rows("b", 30, at=100), *rows("a", 15)], {"PO115": "warning"}),
        ([*rows("a", 30), *rows("b", 15, at=100)], {"PO102": "warning"}),
        ([*rows("a", 15), *rows("b", 30, at=100, count=7)], {"PO102": "warning"}),
        ([*rows("a", 30, count=16)], {"PO102": "warning"}),
        ([*rows("a", 15), *rows("b", 20, at=100)], {}),
        ([*rows("a", 15, image="web:1"), *rows("a", 30, at=100, image="web:2")], {"PO115": "warning"}),
        ([*rows("a", 15, image="web:1"), *rows("b", 30, at=100, image="web:1")], {"PO102": "warning"}),
        ([*answers("a", 0.6), *answers("b", 1.2, at=100)], {"PO115": "warning"}),
        ([*answers("a", 0.3), *answers("b", 0.31, at=100)], {}),
    ],
)
def test_the_newest_release_is_compared_with_the_one_before(
    tmp_path: Path, observed: list[ObservedContainer], rules: dict[str, str]
) -> None:
    assert found(tmp_path, *observed) == rules


@pytest.mark.parametrize(("long", "is_found"), [(2, False), (3, True)])
def test_starts_are_compared_by_their_99th_percentile(tmp_path: Path, long: int, is_found: bool) -> None:
    # All starts of b are longer, and nearly all by too little. The 99th percentile of two hundred is the third longest.
    before = [start_of("a", number, 20 + number / 1_000, at=0) for number in range(200)]
    took = [21 + number / 1_000 for number in range(200 - long)] + [35.0] * long
    after = [start_of("b", number, each, at=1_000) for number, each in enumerate(took)]
    assert ("PO115" in found(tmp_path, *before, *after)) is is_found


def test_prometheus_says_the_image() -> None:
    labels = {"namespace": "default", "pod": "web-a-x", "container": "web"}
    info = {"metric": {"__name__": "kube_pod_container_info", **labels, "image": "web:2"}, "value": [9, "1"]}
    [row] = observed_by_prometheus([{"status": "success", "data": {"resultType": "vector", "result": [info]}}])
    assert (row.image, row.release) == ("web:2", "web:2")
