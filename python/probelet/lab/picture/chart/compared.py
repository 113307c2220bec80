"""Several plays of one incident as steps over time, in one chart, which shows where they part."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template
from typing import Final

from probelet.lab.picture.markup import element, escaped, label, line, number
from probelet.lab.picture.theme import themed

WIDTH: Final = 720.0
HEIGHT: Final = 260.0
LEFT: Final = 56.0
TOP: Final = 44.0
MARGIN: Final = 24.0
TICKS: Final = 5
SECONDS_MAX: Final = 300.0
"""A longer axis of time is in minutes."""
_STEPS: Final = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18_000)
"""Seconds from one moment of the axis to the next."""

_DASHES: Final = ("", "6 4", "2 3")
"""One for each series: people who do not see the colours tell the lines apart by these."""
_COLOURS: Final = ("ready_edge", "lost", "back_off")
SERIES_MAX: Final = len(_COLOURS)
"""More lines than that nobody tells apart."""


@dataclass(frozen=True, slots=True)
class Series:
    """A number over time."""

    label: str
    points: Sequence[tuple[float, float]]
    """Second and value, from then on until the next point."""


@dataclass(frozen=True, slots=True)
class Panel:
    """The content of one chart: the same number of each play."""

    title: str
    series: Sequence[Series]


def compared(title: str, panels: Sequence[Panel], seconds: float, mark: tuple[float, str] | None = None) -> str:
    """An SVG with a panel below the other, from t = 0 to ``seconds``. ``mark``: a moment with its name.

    Raises:
        ValueError: a panel has more than ``SERIES_MAX`` series.
    """
    if any(len(panel.series) > SERIES_MAX for panel in panels):
        raise ValueError(f"a panel has at most {SERIES_MAX} series")
    height = TOP + len(panels) * (HEIGHT + TOP) + MARGIN
    width = LEFT + WIDTH + MARGIN
    drawn = [label(MARGIN, 26, title, "title")]
    for index, panel in enumerate(panels):
        place = f"translate({number(LEFT)} {number(TOP + MARGIN + index * (HEIGHT + TOP))})"
        drawn.append(element("g", _panel(panel, seconds, mark), transform=place))
    tag = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" role="img"'
    return (
        f'{tag} width="{number(width)}" height="{number(height)}"><title>{escaped(title)}</title>'
        f'<style>{_style()}</style><rect class="bg" width="100%" height="100%"/>{"".join(drawn)}</svg>\n'
    )


def _panel(panel: Panel, seconds: float, mark: tuple[float, str] | None) -> str:
    top = _round_up(max((value for each in panel.series for _, value in each.points), default=1))
    drawn = [label(0, -8, panel.title, "name")]
    for tick in range(TICKS + 1):
        y = HEIGHT - HEIGHT * tick / TICKS
        drawn.append(line(f"M0 {number(y)}H{number(WIDTH)}", "grid"))
        drawn.append(label(-8, y + 4, f"{top * tick / TICKS:g}", "soft", "end"))
    for at in _moments(seconds):
        drawn.append(label(WIDTH * at / seconds, HEIGHT + 16, _time(at, seconds), "soft", "middle"))
    if mark is not None:
        x = WIDTH * mark[0] / seconds
        drawn.append(line(f"M{number(x)} 0V{number(HEIGHT)}", "mark", mark[1]))
        drawn.append(label(x + 4, 12, mark[1], "soft"))
    for index, each in enumerate(panel.series):
        drawn.append(line(_steps(each, seconds, top), f"s{index}", each.label))
        x = 150 + 260 * index
        drawn.append(line(f"M{x} -12h28", f"s{index}") + label(x + 34, -8, each.label, "soft"))
    return "".join(drawn)


def _steps(series: Series, seconds: float, top: float) -> str:
    # Of several points in one place of the picture the last one shows.
    at_x = {number(WIDTH * min(at, seconds) / seconds): value for at, value in series.points}
    path: list[str] = []
    for x, value in at_x.items():
        y = number(HEIGHT - HEIGHT * value / top)
        path.append(f"H{x}V{y}" if path else f"M{x} {y}")
    return "".join(path) + (f"H{number(WIDTH)}" if path else "")


def _moments(seconds: float) -> list[float]:
    """The moments below the axis of time: whole steps, so that each is a number that people read at a glance."""
    step = next((each for each in _STEPS if each * TICKS >= seconds), seconds / TICKS)
    return [step * tick for tick in range(int(seconds / step) + 1)]


def _time(at: float, seconds: float) -> str:
    return f"{at:g} s" if seconds <= SECONDS_MAX else f"{at / 60:g} min"


def _round_up(value: float) -> float:
    """The next number of one digit that five steps divide well."""
    if value <= 0:
        return 1
    unit = float(10 ** math.floor(math.log10(value)))
    return next(step * unit for step in (1, 2, 2.5, 5, 6, 8, 10) if step * unit >= value)


def _style() -> str:
    lines = "".join(
        f".s{index}{{stroke:${colour};stroke-dasharray:{dash or 'none'};fill:none;stroke-width:2}}"
        for index, (colour, dash) in enumerate(zip(_COLOURS, _DASHES, strict=True))
    )
    rules = (
        ".bg{fill:$paper}text{font:12px system-ui,sans-serif;fill:$ink}.title{font-size:15px;font-weight:600}"
        ".name{font-weight:600}.soft{fill:$soft}.grid{stroke:$grid}.mark{stroke:$edge;stroke-dasharray:2 2}"
    )
    return themed(Template(rules + lines))
