"""What the pages of kept results have in common: the result itself, and where it comes from."""

import json
from pathlib import Path
from typing import Any


def kept(file: Path) -> dict[str, Any] | None:
    """The kept result, if there is one."""
    return json.loads(file.read_text()) if file.exists() else None


def origin(machine: dict[str, str]) -> str:
    """The machine and commit of a result, for its page."""
    return "; ".join(f"{key} {value}" for key, value in machine.items())


def loads(report: dict[str, Any]) -> str:
    """The load average before and after a measurement, for its page."""
    return " to ".join(" ".join(f"{value:.1f}" for value in report[key]) for key in ("load_before", "load_after"))
