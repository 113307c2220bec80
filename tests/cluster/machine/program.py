"""A program of the cluster that runs until it is stopped, with its log."""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.support.patience import PATIENCE_SECONDS
from tests.system.containerd.machine import until

LOG_END = 2000
"""So many bytes of a log are quoted."""


class Program:
    """``start`` and ``stop`` may follow each other any number of times."""

    def __init__(self, inside: Sequence[str], command: Sequence[str | Path], log: Path) -> None:
        """``inside`` is the prefix that enters namespaces: ``nsenter`` and its flags."""
        self._inside, self._command, self.log = list(inside), [str(word) for word in command], log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            command = [*self._inside, *self._command]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def check(self) -> None:
        """Raises RuntimeError with the end of its log if the program has ended."""
        assert self._process is not None, "start comes first"
        if self._process.poll() is not None:
            words = self.log.read_text(errors="replace")[-LOG_END:]
            raise RuntimeError(f"{self._command[0]} ended with {self._process.returncode}: {words}")

    @property
    def pid(self) -> int:
        """The program's process, as this process sees it. Raises RuntimeError if it has ended."""
        assert self._process is not None, "start comes first"
        if not any(word.partition("=")[0] == "--pid" for word in self._inside):
            return self._process.pid
        # A process cannot change its own namespace of processes, so the one that enters has the program as a child.
        until(self._children, f"the process of {self._command[0]}")
        return self._children()[0]

    def _children(self) -> list[int]:
        self.check()
        assert self._process is not None
        return children(self._process.pid)

    def hang(self) -> None:
        """Stop the program where it is. Raises RuntimeError if it has ended."""
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on. The process that entered the namespaces stops and goes on with the program."""
        assert self._process is not None, "start comes first"
        os.kill(self._process.pid, signal.SIGCONT)

    def wait(self) -> None:
        """Wait for its end, if it was ever started: its namespaces have gone."""
        if self._process is not None:
            self._process.wait(PATIENCE_SECONDS)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End the program; returns its exit code, or the negative number of the signal that ended it."""
        assert self._process is not None, "start comes first"
        with suppress(ProcessLookupError, RuntimeError):
            os.kill(self.pid, number)
        return self._process.wait(PATIENCE_SECONDS)


def children(process: int) -> list[int]:
    """The children of a process that has one thread."""
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
