"""Draws charts with matplotlib; equal charts give equal bytes.

Model curves are solid, published ones hollow and dashed. If both agree, one line shows both and the legend says so.
The colours are those of Okabe and Ito, which colour-blind people can tell apart; marker and hatch differ too.
"""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from probelet.lab.backoff.chart import Chart, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INKS: Final = {
    "today": ("#000000", "o", ""),
    "new": ("#0072B2", "s", "//"),
    "minimum": ("#D55E00", "^", ".."),
    "flat": ("#CC79A7", "v", "--"),
    "rapid": ("#009E73", "D", "xx"),
    "second": ("#E69F00", "P", "\\\\"),
    "tiny": ("#56B4E9", "X", "++"),
}
"""Ink -> colour, marker, hatch."""

STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "probelet",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
}
INCHES: Final = (7.2, 4.4)
PANEL_INCHES: Final = 1.3
DECADES_MAX: Final = 10
DOTS_PER_INCH: Final = 120
# Leaves out the time and the program of the drawing, so that equal charts are equal files.
METADATA: Final[dict[str, dict[str, str | None]]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def save(chart: Chart, path: Path) -> None:
    """Draws a chart into an SVG or PNG file, by its suffix. An SVG carries the digest of its data."""
    suffix = path.suffix.removeprefix(".")
    metadata = dict(METADATA[suffix])
    if suffix == "svg":
        metadata |= {"Title": chart.title, "Description": f"data {chart.digest}"}
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        parts = [replace(chart, series=[series]) for series in chart.series] if chart.panels else [chart]
        figure = Figure(figsize=(INCHES[0], max(INCHES[1], PANEL_INCHES * len(parts))), layout="constrained")
        FigureCanvasAgg(figure)
        places = figure.subplots(len(parts), sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, part in zip(places, parts, strict=True):
            _DRAW[part.kind](axes, part)
            if part.log:
                axes.set_yscale("log")
            if part.y_range is not None:
                axes.set_ylim(*part.y_range)
            if part.log:
                _label_decades(axes)
            axes.legend(
                fontsize=8.5, ncols=2 if part.kind == "dots" else 1, loc="upper right" if chart.panels else "best"
            )
        places[0].set_title(chart.title, fontsize=11)
        places[-1].set_xlabel(chart.x_label)
        (figure.supylabel if chart.panels else places[0].set_ylabel)(
            f"{chart.y_label}, log scale" if chart.log else chart.y_label, fontsize=mpl.rcParams["axes.labelsize"]
        )
        if chart.note:
            figure.supxlabel(chart.note, fontsize=8.5, color="#444444")
        with warnings.catch_warnings():
            # matplotlib warns if placing the legend takes a second; our charts are small, so only a busy machine does.
            warnings.filterwarnings("ignore", message="Creating legend")
            figure.savefig(path, format=suffix, dpi=DOTS_PER_INCH, metadata=metadata)


def _label_decades(axes: "Axes") -> None:
    """Labels 1, 10, 100; over less than two decades 1, 2, 5, 10 as well."""
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,), numticks=DECADES_MAX))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def _halves(chart: Chart) -> Iterator[tuple[Series, str, list[float], bool]]:
    """Yields each drawn curve: the series, its label, its points, and whether they are the published ones."""
    for series in chart.series:
        if series.confirmed:
            yield series, f"{series.name} (as published; model the same)", list(series.model), False
            continue
        if series.published:
            yield series, f"{series.name} ({series.published_is})", list(series.published), True
        if series.model:
            also = " (model)" if series.published else ""
            yield series, f"{series.name}{also}", list(series.model), False


def _lines(axes: "Axes", chart: Chart) -> None:
    for series, label, points, published in _halves(chart):
        colour, marker, _ = INKS[series.ink]
        style: dict[str, Any] = {"linestyle": "--", "markerfacecolor": "white"} if published else {}
        x = range(1, len(points) + 1)
        axes.plot(x, points, color=colour, marker=marker, markersize=5, label=label, **style)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=14))


def _dots(axes: "Axes", chart: Chart) -> None:
    for series, label, points, published in _halves(chart):
        colour, marker, _ = INKS[series.ink]
        x = range(1, len(points) + 1)
        face = "none" if published else colour
        size = 90 if published else 22
        axes.scatter(x, points, s=size, facecolors=face, edgecolors=colour, marker=marker, label=label)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=16))


def _bars(axes: "Axes", chart: Chart) -> None:
    halves = list(_halves(chart))
    width = 0.85 / len(halves)
    for index, (series, label, heights, published) in enumerate(halves):
        colour, _, hatch = INKS[series.ink]
        x = [slot + (index - (len(halves) - 1) / 2) * width for slot in range(len(chart.x))]
        face = "white" if published else colour
        style: dict[str, Any] = {"linestyle": "--"} if published else {"hatch": hatch}
        bars = axes.bar(
            x, heights, width, facecolor=face, edgecolor=colour if published else "white", label=label, **style
        )
        # On a logarithmic axis a bar of 0 has no end at which its label could stand.
        labels = [f"{height:.0f}" if height or not chart.log else "" for height in heights]
        axes.bar_label(bars, labels, fontsize=7.5, padding=1)
    axes.set_xticks(range(len(chart.x)), chart.x)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(y=0.25)


def _steps(axes: "Axes", chart: Chart) -> None:
    dashes = cycle(("-", (0, (6, 2)), (0, (2, 1))))
    for (series, label, points, published), line in zip(_halves(chart), dashes, strict=False):
        colour, _, hatch = INKS[series.ink]
        edges = [n * chart.width if chart.width else n + 0.5 for n in range(len(points) + 1)]
        axes.stairs(points, edges, fill=True, facecolor=colour, alpha=0.12, hatch=hatch, edgecolor=colour)
        axes.stairs(points, edges, color=colour, linewidth=1.8, linestyle=":" if published else line, label=label)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=16))


_DRAW = {"lines": _lines, "dots": _dots, "bars": _bars, "steps": _steps}
