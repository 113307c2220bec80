"""Columns of text: aligned, and fitted to the width of a terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table that has to fit into a terminal.

    ``least`` are the widths to which its cells may be cut, each smaller than the one before; a column without one is
    never cut. ``leaves``: the columns above 0 leave a table that is too wide, the lowest number first.
    """

    head: str
    least: tuple[int, ...] = ()
    leaves: int = 0


def fit(table: Sequence[Column], wanted: Sequence[int], width: int) -> dict[int, int]:
    """The columns of ``table`` that fit into ``width``, by index, with their widths; ``wanted`` are the widths of their
    cells.

    First the columns are cut to the first of their widths, then columns leave, and only then the rest is cut further.
    The last column may still be too wide.
    """
    shown = {index: max(cells, len(table[index].head)) for index, cells in enumerate(wanted)}
    leaving = sorted((index for index in shown if table[index].leaves), key=lambda index: table[index].leaves)
    for index in leaving:
        if _over(_narrowed(table, shown, width, stages=1), width) <= 0:
            break
        del shown[index]
    return _narrowed(table, shown, width, stages=max(len(column.least) for column in table))


def _over(widths: dict[int, int], width: int) -> int:
    return sum(widths.values()) + len(GAP) * (len(widths) - 1) - width


def _narrowed(table: Sequence[Column], shown: dict[int, int], width: int, *, stages: int) -> dict[int, int]:
    widths = dict(shown)
    for stage in range(stages):
        for index in widths:
            least = table[index].least[: stage + 1]
            if least and (over := _over(widths, width)) > 0:
                widths[index] -= min(over, max(widths[index] - least[-1], 0))
    return widths
