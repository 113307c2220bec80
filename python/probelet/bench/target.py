"""A target in a process of its own, so that its CPU is not counted as the prober's.

The other side of the pipe is this module as a program: ``python -m probelet.bench.target PROTOCOL PERIOD_NS``. It
prints its port, answers ``statistics`` and ``forget``, and ends with its input, so that none outlives its prober.
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
"""An address for each worker, from where the target begins to tell them apart."""


class TargetError(ProbeletError):
    """There is no target; the text says why."""


class OwnTarget:
    """The near side of the pipe."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid
        port = self._line()
        if not port.isdecimal():
            raise TargetError(f"the target did not start: {port or 'it said nothing'}")
        self.place = Place.parse(f"{NETWORK}:{port}")

    def statistics(self) -> dict[str, Any]:
        """What the target saw since ``forget``: ``probes``, and ``lateness_ms`` against each worker's own grid."""
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
    """A target that is gone when the block ends. ``period`` is the workers', in seconds. Raises ``TargetError``."""
    command = [sys.executable, "-m", "probelet.bench.target", protocol, str(period * 1_000_000_000)]
    # In a process group of its own: Ctrl-C is for the prober, which ends the target when it is done with it.
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
