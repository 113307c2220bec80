"""Optional parts of a machine that some tests need.

A missing part skips its tests, in one line that says what to install. ``PROBELET_REQUIRE=containerd,go`` names the
parts that have to be there: a test then fails if one of them is missing, so that CI cannot pass by skipping.
"""

import os
import shutil
from typing import NoReturn

import pytest


def missing(part: str, why: str) -> NoReturn:
    """Skips the test without ``part``, or fails it if PROBELET_REQUIRE names ``part``."""
    promised = [name.strip() for name in os.environ.get("PROBELET_REQUIRE", "").split(",")]
    if part in promised:
        pytest.fail(f"PROBELET_REQUIRE lists {part}: {why}", pytrace=False)
    pytest.skip(f"needs {part}: {why}")


def need_namespaces(*programs: str) -> None:
    """Skips the test where no network namespace can be made, or without one of ``programs``; or fails it as ``missing``
    does."""
    if os.geteuid() != 0:
        missing("namespaces", "only root makes network namespaces")
    absent = [program for program in ("ip", *programs) if shutil.which(program) is None]
    if absent:
        missing("namespaces", f"no {', '.join(absent)}; on Debian: apt-get install iproute2 iptables")
