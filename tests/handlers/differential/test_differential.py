"""Three thousand random responses and probes: ours has to say what Go's net/http makes the kubelet say."""

from pathlib import Path

import pytest

from tests.handlers.differential import probers
from tests.handlers.differential.arena import compare
from tests.support.required import missing

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

# Every one of them is a sequence of cases; `python -m tests.handlers.differential` explores others.
SEEDS = [1, 2, 3]
CASES_PER_SEED = 1000


@pytest.fixture(scope="module")
def program() -> Path:
    try:
        return probers.build()
    except probers.GoMissingError as error:
        missing("go", str(error))


@pytest.mark.parametrize("seed", SEEDS)
def test_ours_says_what_the_kubelets_client_says(seed: int, program: Path) -> None:
    report = compare(program, ((seed, number) for number in range(CASES_PER_SEED)))
    assert not report.differ, "\n".join(report.lines())
    assert report.cases == CASES_PER_SEED
