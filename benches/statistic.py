"""What is said of rows that were measured several times."""

import statistics
from typing import Any

Row = dict[str, Any]


def of(rows: list[Row], scenario: str, engine: str) -> list[Row]:
    """The rounds of an engine in a scenario, in order."""
    return [row for row in rows if row["scenario"] == scenario and row["engine"] == engine]


def median(rows: list[Row], *path: str) -> float | None:
    """The median of a figure over the rounds that have it."""
    found = [value for row in rows if (value := _at(row, path)) is not None]
    return statistics.median(found) if found else None


def _at(row: Any, path: tuple[str, ...]) -> float | None:
    for key in path:
        row = row.get(key) if row is not None else None
    return None if row is None else float(row)


def ratio(rows: list[Row], scenario: str, engine: str, base: str) -> float | None:
    """CPU per probe over that of another engine: the median of the ratios of the same round, which ran after each
    other, so that a machine that is slow for a while is slow for both."""
    mine, theirs = of(rows, scenario, engine), of(rows, scenario, base)
    pairs = [(a["cpu_us_per_probe"], b["cpu_us_per_probe"]) for a, b in zip(mine, theirs, strict=False)]
    found = [a / b for a, b in pairs if a and b]
    return statistics.median(found) if found else None
