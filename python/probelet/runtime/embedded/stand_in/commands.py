"""How a stand-in answers the exec probes of its container: through a pipe with a name for each type of probe.

The command of the probe becomes one of the shell's own, which reads its exit code from the pipe. A Python program for
each attempt would take longer than the default timeout on a busy machine.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from probelet.runtime.embedded.child.marks import CONTAINER_VARIABLE, ROOT_VARIABLE
from probelet.runtime.embedded.stand_in.plan import ProbeType

_FOLDER: Final = "${" + ROOT_VARIABLE.decode() + "}/stand-in-${" + CONTAINER_VARIABLE.decode() + "}"
PAUSE_SECONDS: Final = 0.005
"""After an answer, until its reader has closed the pipe: else it would be taken for the next one."""


def command(probe_type: ProbeType) -> list[str]:
    """The command in the place of a probe's own."""
    return ["/bin/sh", "-c", f'read -r code < "{_FOLDER}/{probe_type}" && exit "$code"; exit 1']


def folder(environment: Mapping[bytes, bytes]) -> Path:
    """The directory of the pipes. It is within the runtime's own, which nobody else can enter."""
    return Path(os.fsdecode(environment[ROOT_VARIABLE]), f"stand-in-{os.fsdecode(environment[CONTAINER_VARIABLE])}")


def serve(where: Path, probe_type: ProbeType, answer: Callable[[], int]) -> None:
    """Answers the probe in a thread of its own, as long as the process lives. ``answer`` returns the exit code, and
    takes as long as an answer does."""
    where.mkdir(mode=0o700, exist_ok=True)
    pipe = where / probe_type
    os.mkfifo(pipe, mode=0o600)
    threading.Thread(target=_answer, args=(pipe, answer), name=f"exec-{probe_type}", daemon=True).start()


def _answer(pipe: Path, answer: Callable[[], int]) -> None:
    while True:
        # It waits here until a reader opens the pipe.
        writing_end = os.open(pipe, os.O_WRONLY)
        try:
            # The reader may be gone: its time was over.
            with suppress(BrokenPipeError):
                os.write(writing_end, f"{answer()}\n".encode())
        finally:
            os.close(writing_end)
        time.sleep(PAUSE_SECONDS)
