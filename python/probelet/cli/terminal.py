"""Printing for people: what the terminal can show, and nothing that could harm it."""

import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

# Into a file or a pipe a line is as long as it has to be, so that grep sees all of it.
PIPE_COLUMNS = 10_000


def console(file: TextIO | None = None) -> "Console":
    """A rich console for stdout, or for ``file``. NO_COLOR, TERM=dumb and COLUMNS are honoured."""
    from rich.console import Console

    stream = file or sys.stdout
    wide = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_COLUMNS
    return Console(file=stream, width=wide, highlight=False, markup=False, emoji=False, soft_wrap=False)


def unicode_in(encoding: str | None) -> bool:
    """Whether an output encoding can show the marks; otherwise there is a spelling in ASCII."""
    return (encoding or "").lower().replace("-", "").startswith("utf")


def printable(text: str) -> str:
    """A text from elsewhere on one line: escape sequences and control characters must not reach the terminal."""
    return "".join(
        char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}" for char in text
    )
