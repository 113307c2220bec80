"""Output for people: within the terminal's abilities, and without harm to it. Every verb writes through this module.

What a verb shows comes from containers, runtimes and files: nothing of it reaches the terminal unescaped.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, TextIO, TypeAlias

from probelet.base.printable import printable, printable_json

if TYPE_CHECKING:
    from rich.console import Console

# A line into a file or pipe has no maximal width, so that grep sees all of it.
PIPE_COLUMNS = 10_000

Colour: TypeAlias = Literal["red", "yellow", "cyan", "bold"]
_CODES: Mapping[Colour, str] = {"red": "31;1", "yellow": "33", "cyan": "36", "bold": "1"}


def print_lines(*lines: str, flush: bool = False) -> None:
    """Writes lines to stdout. One that has a line break is several lines."""
    print(*(printable(line, keep="\n") for line in lines), sep="\n", flush=flush)


class Painted(NamedTuple):
    """A part of a line in a colour of its own."""

    text: str
    colour: Colour


def print_painted(*lines: Sequence[str | Painted]) -> None:
    """Writes lines to stdout, each as its parts; in colour on a terminal without ``NO_COLOR`` and ``TERM=dumb``."""
    is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    for parts in lines:
        print("".join(_painted(part, is_coloured=is_coloured) for part in parts))


def _painted(part: str | Painted, *, is_coloured: bool) -> str:
    if isinstance(part, str):
        return printable(part)
    text = printable(part.text)
    return f"\x1b[{_CODES[part.colour]}m{text}\x1b[0m" if is_coloured else text


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
