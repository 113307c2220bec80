"""The rows of one probe: what happens, from when to when, counted from where."""

from typing import NamedTuple

from probelet.base.printable import one_line
from probelet.lab.explain import Explained, Span

COLUMNS = 80
RUNS = "after the container runs"
SUCCEEDS = "after attempts succeed"
FAILS = "after attempts fail"


class Row(NamedTuple):
    """One line of a table."""

    what: str
    span: Span
    since: str


def rows(explained: Explained) -> list[Row]:
    """The rows of a probe; a decision that it does not make has none."""
    bounds = explained.bounds
    found = [Row("first probe", bounds.first_probe, RUNS)]
    if bounds.to_ready is not None:
        found.append(Row("ready", bounds.to_ready, SUCCEEDS))
    if bounds.to_unready is not None:
        found.append(Row("not ready", bounds.to_unready, FAILS))
    if bounds.to_kill is not None and explained.type == "liveness":
        found.append(Row("kill", bounds.to_kill, FAILS))
    if bounds.startup_budget is not None and explained.kills_unstarted:
        found.append(Row("kill, if it never succeeds", bounds.startup_budget, RUNS))
        if explained.crash_loop is not None and explained.crash_loop.plateau_seconds:
            found.append(Row("longest restart delay", explained.crash_loop.reached, "after the first start"))
    return found


def title(explained: Explained) -> str:
    """The probe's name: a line of its own, or two where it would be wider than ``COLUMNS``."""
    kind = "sidecar" if explained.is_sidecar else "container"
    names = one_line(explained.object), one_line(f"{kind} {explained.container}: {explained.type} probe")
    line = ", ".join(names)
    return line if len(line) <= COLUMNS else ",\n  ".join(names)


def seconds_text(value: float) -> str:
    """``31 s``, ``5.5 s``."""
    return f"{value:.1f}".removesuffix(".0") + " s"
