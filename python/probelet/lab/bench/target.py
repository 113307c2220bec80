"""A target in its own process, so that its CPU does not count as the prober's.

The program is ``probelet-target`` (``rust/target``). It prints its port, answers ``statistics`` and ``forget`` on its
input, and ends when its input ends, so that no target outlives its prober.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from probelet.errors import ProbeletError
from probelet.lab.bench.place import Place

NETWORK = "127.1.0.0/9"
"""A target can tell workers apart by these addresses, one for each worker."""

PROGRAM = "probelet-target"
BUILD = Path(__file__).parents[4] / "build"
"""The folder of built programs, if this module runs from a checkout."""


class TargetError(ProbeletError):
    """The target is missing; the message says why."""


class OwnTarget:
    """A running target process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid
        line = self._line()
        word, _, port = line.partition(" ")
        if word != "port":
            raise TargetError(f"the target did not start: {line.removeprefix('error: ') or 'it printed nothing'}")
        self.place = Place.parse(f"{NETWORK}:{port}")

    def statistics(self) -> dict[str, Any]:
        """The target's counts since ``forget``.

        ``probes`` counts connections. ``lateness_ms`` has the quantiles ``p50``, ``p90``, ``p99`` and ``max`` of the
        ``samples`` connections against each worker's own grid, ``missed`` the periods without a probe. The probes of
        worker n arrive at 127.1.0.0 + n, and ``pods`` counts the workers with three probes or more.
        ``first_byte_lateness_ms`` has the quantiles of the first byte of each request; it is None if there were no
        requests.
        """
        return self._ask("statistics")

    def forget(self) -> None:
        self._ask("forget")

    def _ask(self, word: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._line())
        except (BrokenPipeError, json.JSONDecodeError):
            raise TargetError("the target has ended before its prober") from None
        return answer

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def program() -> str:
    """Finds ``probelet-target``: beside the interpreter, in PATH, or in a checkout. Raises ``TargetError``."""
    folders = (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath), str(BUILD))
    if found := shutil.which(PROGRAM, path=os.pathsep.join(folders)):
        return found
    raise TargetError(
        f"the program {PROGRAM} is missing: it is neither beside {sys.executable} nor in PATH; "
        f"'make build' in a checkout of probelet makes it (build/{PROGRAM}), or give --target"
    )


@contextmanager
def own_target(protocol: str, period: int) -> Iterator[OwnTarget]:
    """Runs a target until the block ends. ``period`` is the workers', in seconds. Raises ``TargetError``."""
    command = [program(), protocol, "--period-ns", str(period * 1_000_000_000)]
    # Its own process group keeps Ctrl-C away from it: the prober ends it after use.
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0
    ) as process:
        try:
            yield OwnTarget(process)
        finally:
            process.kill()
            assert process.stdin is not None
            # A command that a dead target did not take is still in the buffer, and closing tries to send it.
            with suppress(BrokenPipeError):
                process.stdin.close()
