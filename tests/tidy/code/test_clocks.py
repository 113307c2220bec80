"""The node, the agent, the prober service and their exec attempts read the engine's clocks and no other, so that a test
that puts the engine's clocks forward moves everything."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT

FOLDERS = ("agent", "host", "node", "runtime/execs", "runtime/seen", "service")

CLOCK_MODULES = {"time", "datetime"}

# An attempt in flight is timed on the event loop's clock: its deadlines are timers of the loop and of the gRPC library.
LOOP_TIME_IN = "runtime/execs/runtime_execs.py"


def clocks(code: str) -> Iterator[str]:
    """Every clock that a file reads beside the engine's: modules, and the event loop's ``time``."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in CLOCK_MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in CLOCK_MODULES:
            yield node.module
        elif isinstance(node, ast.Attribute) and node.attr == "time":
            yield "loop.time"


def sources() -> list[Path]:
    package = ROOT / "python" / "probelet"
    return sorted(path for folder in FOLDERS for path in (package / folder).rglob("*.py") if "v1" not in path.parts)


def test_only_the_timing_of_attempts_in_flight_reads_another_clock_than_the_engines() -> None:
    package = ROOT / "python" / "probelet"
    found = {path.relative_to(package).as_posix(): set(clocks(path.read_text())) for path in sources()}
    assert {path: read for path, read in found.items() if read} == {LOOP_TIME_IN: {"loop.time"}}


@pytest.mark.parametrize(
    ("code", "read"),
    [
        ("import time\ntime.sleep(1)\n", "time"),
        ("from time import monotonic\n", "time"),
        ("def f():\n    from datetime import datetime\n", "datetime"),
        ("asyncio.get_running_loop().time()\n", "loop.time"),
    ],
)
def test_the_scanner_sees_a_clock(code: str, read: str) -> None:
    assert list(clocks(code)) == [read]
