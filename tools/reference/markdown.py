"""Text as Markdown."""

import textwrap
from collections.abc import Iterable, Sequence

COLUMNS = 120


def prose(text: str) -> list[str]:
    """Paragraphs, which a blank line separates, each with its lines broken anew."""
    lines: list[str] = []
    for paragraph in text.strip().split("\n\n"):
        lines += ["", *textwrap.wrap(paragraph, COLUMNS, break_long_words=False, break_on_hyphens=False)]
    return lines[1:]


def code(text: object) -> str:
    return f"`{text}`"


def cell(text: str) -> str:
    """A text for a table: one line, and its bars are no borders."""
    return " ".join(text.split()).replace("|", "\\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *([cell(text) for text in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def block(language: str, lines: Iterable[str], *, not_run: str = "") -> list[str]:
    """A fenced block; ``not_run`` is the reason why the tests of the documentation leave it alone."""
    head = [f"<!-- not run: {not_run} -->"] if not_run else []
    return [*head, f"```{language}", *lines, "```"]
