"""Parts of a machine that some tests need and not every machine has.

Where one is missing its tests are skipped, in one line that says what to install. ``PROBELET_REQUIRE=containerd,go``
names those that have to be there: then a missing one is a failure, so that CI cannot pass by skipping.
"""

import os
from typing import NoReturn

import pytest


def missing(part: str, why: str) -> NoReturn:
    """Skip what needs ``part``, or fail if this machine has promised it."""
    promised = [name.strip() for name in os.environ.get("PROBELET_REQUIRE", "").split(",")]
    if part in promised:
        pytest.fail(f"PROBELET_REQUIRE lists {part}: {why}", pytrace=False)
    pytest.skip(f"needs {part}: {why}")
