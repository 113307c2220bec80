"""``probelet backoff``."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from probelet.cli.backoff.flags import (
    LIFE,
    SHAPE,
    Count,
    LifeFlags,
    ShapeFlags,
    Window,
    curve_of,
    span,
)
from probelet.cli.options import Output
from probelet.cli.verb import verb

_S = 1_000_000_000

app = verb(
    "backoff",
    "A curve is INITIAL/MAX: 10s/5m, or in seconds 10/300. An initial delay longer\n"
    "than the max counts as the max. A restart is decided by the live manager's own\n"
    "start decision; times are seconds since the first start of the container, and\n"
    "what it ran in between is part of them.",
    "probelet backoff table --initial 1s --max 60s --restarts 30",
    "probelet backoff compare 10/300 1/60 1/1 --run 10s",
    "probelet backoff load 1/60 --pods 110 --window 5m",
    "probelet backoff load 1/1 --pods 110 --succeed 0.5 --policy OnFailure -o json",
    "probelet backoff plot --out charts --format png",
    "probelet backoff kep4603",
)

app.group_commands = Group("Questions")


@app.command
def table(
    *,
    initial: Annotated[
        int, Parameter(converter=span, metavar="TIME", show_default=False, help="First delay. Default: 10s.")
    ] = 10 * _S,
    max_: Annotated[
        int, Parameter(name="--max", converter=span, metavar="TIME", show_default=False, help="Default: 300s.")
    ] = 300 * _S,
    shape: ShapeFlags = SHAPE,
    life: LifeFlags = LIFE,
    restarts: Annotated[Count, Parameter(help="How many restarts to show.")] = 10,
    output: Output = "table",
) -> int:
    """Every restart of one container: when, and after which delay.

    at: seconds from the container's first start to this restart, runs included;
    delay: the back-off charged before it, 0 when free.
    """
    from probelet.cli.backoff.table import show_table

    return show_table(curve_of(initial, max_, shape), life, restarts, output)


@app.command
def compare(
    *curves: Annotated[str, Parameter(name="CURVE", help="Default: 10/300 1/60.")],
    shape: ShapeFlags = SHAPE,
    life: LifeFlags = LIFE,
    restarts: Annotated[Count, Parameter(help="How many restarts to show.")] = 12,
    output: Output = "table",
) -> int:
    """Curves side by side: restart times, and how many more restarts than today's 10/300."""
    from probelet.cli.backoff.table import show_comparison

    made = [shape.curve(text) for text in curves or ("10/300", "1/60")]
    return show_comparison(made, shape.curve("10/300"), life, restarts, output)


@app.command
def load(
    curve: Annotated[str, Parameter(name="CURVE", help="INITIAL/MAX.")] = "10/300",
    /,
    *,
    shape: ShapeFlags = SHAPE,
    life: LifeFlags = LIFE,
    pods: Annotated[Count, Parameter(help="How many; 110 fill a node.")] = 110,
    containers: Annotated[Count, Parameter(help="In each pod.")] = 1,
    succeed: Annotated[float, Parameter(help="The share that exits with 0; the others with 1.")] = 0,
    spread: Annotated[
        int,
        Parameter(converter=span, metavar="TIME", show_default=False, help="First starts over this. Default: 0s."),
    ] = 0,
    window: Annotated[Window, Parameter(help="How long to look. Default: 5m.")] = 300 * _S,
    requests: Annotated[float, Parameter(help="To the API server, per restart; KEP-4603 says 5.")] = 5,
    output: Output = "table",
) -> int:
    """What the crashing containers of a node cost: restarts and API requests."""
    from probelet.cli.backoff.load import Node, show_load

    node = Node(pods, containers, succeed, spread, window, requests)
    return show_load(shape.curve(curve), shape.curve("10/300"), life, node, output)


@app.command
def plot(
    *charts: Annotated[str, Parameter(name="CHART", help="Default: all of them.")],
    out: Annotated[Path, Parameter(name="--out", metavar="DIR", help="Where the files go.")] = Path("charts"),
    format_: Annotated[Literal["svg", "png", "both"], Parameter(name="--format", help="File type.")] = "svg",
) -> int:
    """Draw the charts of KEP-4603 again, its numbers beside the model's (needs matplotlib: probelet[plots])."""
    from probelet.cli.backoff.plot import draw

    return draw(list(charts), out, ("svg", "png") if format_ == "both" else (format_,))


@app.command
def kep4603(*, output: Output = "table") -> int:
    """Each number of KEP-4603, derived again: whether it holds, under which reading, or why not."""
    from probelet.cli.backoff.kep4603 import show_claims

    return show_claims(output)
