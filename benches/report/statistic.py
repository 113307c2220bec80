"""Medians and ratios of rows that were measured several times."""

import statistics
from typing import Any

Row = dict[str, Any]


def of(rows: list[Row], scenario: str, engine: str) -> list[Row]:
    """Returns the rounds of an engine in a scenario, in order."""
    same = [row for row in rows if row["scenario"] == scenario and row["engine"] == engine]
    return [row for row in same if "skipped" not in row]


def skipped(rows: list[Row], scenario: str, engine: str) -> str | None:
    """Returns the number of workers that saturated an engine, if it was skipped for that reason."""
    same = (row for row in rows if row["scenario"] == scenario and row["engine"] == engine)
    return next((row["skipped"] for row in same if "skipped" in row), None)


def median(rows: list[Row], *path: str) -> float | None:
    """Returns the median of a figure over the rounds that have it."""
    found = [value for row in rows if (value := _at(row, path)) is not None]
    return statistics.median(found) if found else None


def _at(row: Any, path: tuple[str, ...]) -> float | None:
    for key in path:
        row = row.get(key) if row is not None else None
    return None if row is None else float(row)


def ratio(rows: list[Row], scenario: str, engine: str, base: str) -> float | None:
    """Returns CPU per probe relative to another engine: the median of the ratios within a round. The engines of a round
    run one after the other, so a machine that is slow for a while is slow for both."""
    mine, theirs = (
        {row["round"]: row["cpu_us_per_probe"] for row in of(rows, scenario, name)} for name in (engine, base)
    )
    found = [cpu / theirs[number] for number, cpu in mine.items() if cpu and theirs.get(number)]
    return statistics.median(found) if found else None
