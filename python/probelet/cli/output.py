"""The standard streams of the command line: what cannot be written is one error, whichever verb writes it."""

import io
import os
import sys
from typing import Any

from probelet.errors import ProbeletError


class OutputError(ProbeletError):
    """stdout is closed, or its disk is full; the message is one line. A reader that has left is a BrokenPipeError."""


class _Stdout(io.FileIO):
    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"cannot write to stdout: {error.strerror}") from error


def set_up_output() -> None:
    """Prepares stdout and stderr. One that is closed gets a stream of its own, so that no file that the process opens
    later is taken for it; what a verb writes to such a stdout is an OutputError, and to such a stderr it is lost."""
    if sys.stderr is None:
        _open_null(2, os.O_WRONLY)
        sys.stderr = os.fdopen(2, "w", closefd=False)
    encoding = "utf-8"
    if sys.stdout is None:
        # Nothing can be written to a descriptor that is open for reading.
        _open_null(1, os.O_RDONLY)
    else:
        encoding = sys.stdout.encoding
    raw = _Stdout(1, "w", closefd=False)
    # A mark that the terminal's encoding lacks must not end the verb.
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding, "replace", line_buffering=raw.isatty())
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="replace")


def discard_output() -> None:
    """Lets what stdout still holds go nowhere, so that the interpreter does not complain of it at exit."""
    _open_null(1, os.O_WRONLY)


def _open_null(number: int, flags: int) -> None:
    """Opens the null device as the descriptor ``number``."""
    opened = os.open(os.devnull, flags)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
