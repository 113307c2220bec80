"""Output for people: within the terminal's abilities, and without harm to it. Every verb writes through this module.

What a verb shows comes from containers, runtimes and files: nothing of it reaches the terminal unescaped.
"""

import os
import sys
from typing import TYPE_CHECKING, BinaryIO, TextIO

from probelet.base.printable import printable, printable_json

if TYPE_CHECKING:
    from rich.console import Console

# A line into a file or pipe has no maximal width, so that grep sees all of it.
PIPE_COLUMNS = 10_000


def print_lines(*lines: str, flush: bool = False) -> None:
    """Writes lines to stdout. One that has a line break is several lines."""
    print(*(printable(line, keep="\n") for line in lines), sep="\n", flush=flush)


def print_json(document: bytes, *, indented: bool = False, flush: bool = False) -> None:
    """Writes a JSON document to stdout, in one line or indented."""
    if indented:
        import msgspec

        document = msgspec.json.format(document)
    print(printable_json(document.decode()), flush=flush)


def complain(*lines: str) -> None:
    """Writes lines to stderr, each as one line."""
    for line in lines:
        print(printable(line), file=sys.stderr, flush=True)


def byte_output() -> BinaryIO:
    """stdout for bytes that go out as they are, which is right for a pipe or a file alone."""
    return sys.stdout.buffer


def console(file: TextIO | None = None) -> "Console":
    """A rich console for stdout, or for ``file``. It honours NO_COLOR, TERM=dumb and COLUMNS."""
    from probelet.cli.console import PrintableConsole

    stream = file or sys.stdout
    wide = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_COLUMNS
    return PrintableConsole(file=stream, width=wide, highlight=False, markup=False, emoji=False, soft_wrap=False)


def unicode_in(encoding: str | None) -> bool:
    """True if the output encoding can show the marks; otherwise use the ASCII spelling."""
    return (encoding or "").lower().replace("-", "").startswith("utf")
