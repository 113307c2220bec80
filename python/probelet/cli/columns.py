"""Columns of text that line up."""

from collections.abc import Sequence

GAP = "  "


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """A line for each row: the first column to the left, the others to the right."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        GAP.join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
