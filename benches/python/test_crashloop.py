"""The cost of the crash-loop model, which plays every container on its own."""

import pytest
from probelet.lab.backoff import REDUCED, Crowd, load
from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.bench

HALF_AN_HOUR_NS = 1_800_000_000_000


def test_a_million_pods_that_crash_for_half_an_hour(benchmark: BenchmarkFixture) -> None:
    crowd = Crowd(REDUCED, containers=1_000_000)
    found = benchmark.pedantic(load, args=([crowd],), kwargs={"window_ns": HALF_AN_HOUR_NS}, rounds=3)
    assert found.restarts == 35_000_000
