"""A live engine for one test."""

from collections.abc import Iterator

import pytest
from probelet._rust import Engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine(start_jitter=False)
    yield engine
    engine.close()
