"""Thousands of random responses and probes: our handlers must answer as the kubelet does with Go's net/http."""

from pathlib import Path

import pytest

from tests.handlers.differential import probers
from tests.handlers.differential.arena import compare
from tests.support.required import missing

pytestmark = pytest.mark.e2e

# Each seed gives a sequence of cases; `python -m tests.handlers.differential` explores other seeds.
SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))]
CASES_PER_SEED = 1000


@pytest.fixture(scope="module")
def program() -> Path:
    try:
        return probers.build()
    except probers.GoMissingError as error:
        missing("go", str(error))


@pytest.mark.parametrize("seed", SEEDS)
def test_our_handlers_answer_as_the_kubelets_http_client_does(seed: int, program: Path) -> None:
    report = compare(program, ((seed, number) for number in range(CASES_PER_SEED)))
    assert not report.differ, "\n".join(report.lines())
    assert report.cases == CASES_PER_SEED
