"""A directory of a container whose file system stops to answer, as FUSE does whose server hangs and NFS whose server is
away. The file system is a FUSE server without a library, spoken over /dev/fuse by a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.paths import ROOT
from tests.support.patience import PATIENCE_SECONDS


class HangingDirectory:
    """A file system on a directory of a container: empty, and it answers until ``hang``."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def hang(self) -> None:
        """From now on it answers nothing that it is asked."""
        self._tell("hang")

    def answer(self) -> None:
        """It answers again, first what it was asked meanwhile."""
        self._tell("answer")

    def _tell(self, word: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline().strip() == word


@contextmanager
def hanging_directory(first_process: int, path: str) -> Iterator[HangingDirectory]:
    """Mounts it over ``path`` in the mount namespace of a container's first process. At the end it is
    unmounted, and all waits for it end with an error."""
    command = [sys.executable, "-m", "tests.support.hanging_directory", str(first_process), path]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "mounted\n"
            yield HangingDirectory(process)
        finally:
            process.communicate(timeout=PATIENCE_SECONDS)
