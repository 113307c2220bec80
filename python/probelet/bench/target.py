"""A target in its own process, so that its CPU does not count as the prober's.

The process runs this module: ``python -m probelet.bench.target PROTOCOL PERIOD_NS``. It prints its port, answers
``statistics`` and ``forget`` on its input, and ends when its input ends, so that no target outlives its prober.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from probelet.bench.place import Place
from probelet.errors import ProbeletError

NETWORK = "127.1.0.0/9"
"""A target can tell workers apart by these addresses, one for each worker."""


class TargetError(ProbeletError):
    """The target is missing; the message says why."""


class OwnTarget:
    """A running target process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid
        port = self._line()
        if not port.isdecimal():
            raise TargetError(f"the target did not start: {port or 'it printed nothing'}")
        self.place = Place.parse(f"{NETWORK}:{port}")

    def statistics(self) -> dict[str, Any]:
        """The target's counts since ``forget``: ``probes``, and ``lateness_ms`` against each worker's own grid."""
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


@contextmanager
def own_target(protocol: str, period: int) -> Iterator[OwnTarget]:
    """Runs a target until the block ends. ``period`` is the workers', in seconds. Raises ``TargetError``."""
    command = [sys.executable, "-m", "probelet.bench.target", protocol, str(period * 1_000_000_000)]
    # Its own process group keeps Ctrl-C away from it: the prober ends it after use.
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0
    ) as process:
        try:
            yield OwnTarget(process)
        finally:
            process.kill()


def main() -> None:
    from probelet._rust import Target
    from probelet.bench.usage import raise_file_limit

    raise_file_limit()
    try:
        target = Target(sys.argv[1], period_ns=int(sys.argv[2]))  # type: ignore[arg-type]
    except OSError as error:
        _say(str(error))
        return
    _say(str(target.port))
    for line in sys.stdin:
        if line.strip() == "statistics":
            _say(target.statistics().decode())
        else:
            target.forget()
            _say("{}")
    target.close()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
