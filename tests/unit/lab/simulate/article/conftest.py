"""Plays half of the variations of each scenario in `make test`, and all of them in `make test-release`."""

import pytest

from tests.unit.lab.simulate import variations


@pytest.fixture(
    autouse=True,
    params=[pytest.param(False, id="half"), pytest.param(True, id="all", marks=pytest.mark.slow)],
)
def _share(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variations, "all_of_them", request.param)
