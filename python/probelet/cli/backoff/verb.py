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
from probelet.cli.options import NamedPath, Output
from probelet.cli.verb import verb

_S = 1_000_000_000

app = verb(
    "backoff",
    "A curve is INITIAL/MAX: 10s/5m, or in seconds 10/300. An initial delay longer\n"
    "than the max becomes the max. The model uses the live manager's own start\n"
    "decision. Times are seconds since the container's first start and include its\n"
    "runs.",
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
        int,
        Parameter(
            converter=span,
            allow_leading_hyphen=True,
            metavar="TIME",
            show_default=False,
            help="Initial delay. Default: 10s.",
        ),
    ] = 10 * _S,
    max_: Annotated[
        int,
        Parameter(
            name="--max",
            converter=span,
            allow_leading_hyphen=True,
            metavar="TIME",
            show_default=False,
            help="Longest delay. Default: 300s.",
        ),
    ] = 300 * _S,
    shape: ShapeFlags = SHAPE,
    life: LifeFlags = LIFE,
    restarts: Annotated[Count, Parameter(help="Number of restarts to show.")] = 10,
    output: Output = "table",
) -> int:
    """Every restart of one container: its time and its delay.

    at: seconds from the container's first start to this restart, runs included;
    delay: the back-off before it, 0 if the restart is free.
    """
    from probelet.cli.backoff.table import show_table

    return show_table(curve_of(initial, max_, shape), life, restarts, output)


@app.command
def compare(
    *curves: Annotated[str, Parameter(name="CURVE", help="INITIAL/MAX. Default: 10/300 1/60.")],
    shape: ShapeFlags = SHAPE,
    life: LifeFlags = LIFE,
    restarts: Annotated[Count, Parameter(help="Number of restarts to show.")] = 12,
    output: Output = "table",
) -> int:
    """Curves side by side: restart times, and the restarts in excess of today's 10/300."""
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
    pods: Annotated[Count, Parameter(help="Number of pods; 110 fill a node.")] = 110,
    containers: Annotated[Count, Parameter(help="Containers in each pod.")] = 1,
    succeed: Annotated[float, Parameter(help="Share of containers that exit with 0; the others exit with 1.")] = 0,
    spread: Annotated[
        int,
        Parameter(
            converter=span,
            allow_leading_hyphen=True,
            metavar="TIME",
            show_default=False,
            help="Spread the first starts over this time. Default: 0s.",
        ),
    ] = 0,
    window: Annotated[Window, Parameter(help="Length of the observed time. Default: 5m.")] = 300 * _S,
    requests: Annotated[float, Parameter(help="API requests per restart; KEP-4603 says 5.")] = 5,
    output: Output = "table",
) -> int:
    """The load that a node's crashing containers cause: restarts and API requests."""
    from probelet.cli.backoff.load import Node, show_load

    node = Node(pods, containers, succeed, spread, window, requests)
    return show_load(shape.curve(curve), shape.curve("10/300"), life, node, output)


@app.command
def plot(
    *charts: Annotated[str, Parameter(name="CHART", help="Name of a chart. Default: all.")],
    out: Annotated[NamedPath, Parameter(name="--out", metavar="DIR", help="Directory for the files.")] = Path("charts"),
    format_: Annotated[Literal["svg", "png", "both"], Parameter(name="--format", help="File type.")] = "svg",
) -> int:
    """Draw the charts of KEP-4603: its numbers beside the model's (needs matplotlib: probelet[plots])."""
    from probelet.cli.backoff.plot import draw

    return draw(list(charts), out, ("svg", "png") if format_ == "both" else (format_,))


@app.command(group=Group("For contributors", sort_key=9))
def kep4603(*, output: Output = "table") -> int:
    """Each number of KEP-4603, derived from the model: whether it holds, on which assumption, or why not."""
    from probelet.cli.backoff.kep4603 import show_claims

    return show_claims(output)
