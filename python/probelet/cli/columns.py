"""Aligned columns of text."""

from collections.abc import Sequence

GAP = "  "


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """One line per row: the first column is left-aligned, the others right-aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        GAP.join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
