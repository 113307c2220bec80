"""A directory that several users share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.other_user import shared_directory


@pytest.fixture
def shared() -> Iterator[Path]:
    with shared_directory() as path:
        yield path
