"""Output for people: within the terminal's abilities, and without harm to it."""

import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

# A line into a file or pipe has no maximal width, so that grep sees all of it.
PIPE_COLUMNS = 10_000


def console(file: TextIO | None = None) -> "Console":
    """A rich console for stdout, or for ``file``. It honours NO_COLOR, TERM=dumb and COLUMNS."""
    from rich.console import Console

    stream = file or sys.stdout
    wide = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_COLUMNS
    return Console(file=stream, width=wide, highlight=False, markup=False, emoji=False, soft_wrap=False)


def unicode_in(encoding: str | None) -> bool:
    """True if the output encoding can show the marks; otherwise use the ASCII spelling."""
    return (encoding or "").lower().replace("-", "").startswith("utf")


def printable(text: str) -> str:
    """A foreign text as one line, without the escape sequences and control characters that a terminal would obey."""
    return "".join(
        char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}" for char in text
    )
