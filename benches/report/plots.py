"""The plots of the results. The colours are Okabe and Ito's, which people with any colour vision can tell apart. Each
engine keeps its colour in all plots, and has its own marker where lines cross."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benches.engines import ENGINES
from benches.report.statistic import Row, median, of, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "epoll": "#999999",
    "epoll-exact": "#56B4E9",
    "probelet": "#0072B2",
    "probelet-spread": "#CC79A7",
    "probelet-slack": "#000000",
    "kubelet": "#D55E00",
    "blackbox": "#E69F00",
    "asyncio": "#009E73",
    "grpc-aio": "#F0E442",
}
MARKERS = {
    "epoll": "s",
    "epoll-exact": "D",
    "probelet": "o",
    "probelet-spread": "X",
    "probelet-slack": "d",
    "kubelet": "^",
    "blackbox": "v",
    "asyncio": "P",
    "grpc-aio": "*",
}
GROUPS = "handler and probes a second"
BARS = ("http-1000", "http-5000", "http-10000", "https-1000", "tcp-1000", "tcp-5000", "grpc-1000", "exec-1000")


def measured(rows: list[Row], scenarios: tuple[str, ...]) -> list[str]:
    return [name for name in scenarios if any("skipped" not in row for row in rows if row["scenario"] == name)]


def bars(axes: "Axes", rows: list[Row], value: Callable[[str, str], float | None], scenarios: list[str]) -> None:
    """A group of bars for each scenario, with its figure on top."""
    engines = [name for name in ENGINES if any(value(scenario, name) is not None for scenario in scenarios)]
    width = 0.86 / max(1, len(engines))
    for place, name in enumerate(engines):
        found = [(x, height) for x, scenario in enumerate(scenarios) if (height := value(scenario, name)) is not None]
        at = [x + (place - (len(engines) - 1) / 2) * width for x, _ in found]
        drawn = axes.bar(at, [height for _, height in found], width, color=COLOURS[name], label=ENGINES[name].title)
        axes.bar_label(drawn, [label(height) for _, height in found], fontsize=6.5, rotation=90, padding=2)
    axes.set_xticks(range(len(scenarios)), [scenario.replace("-", "\n") for scenario in scenarios])
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(10 ** math.floor(math.log10(low)), high * 6)  # leaves room for the figures and the legend
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.set_xlabel(GROUPS)
    axes.legend(ncols=3, fontsize=8, frameon=False, loc="upper left")
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)


def label(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def cost(axes: "Axes", rows: list[Row]) -> None:
    bars(axes, rows, lambda scenario, name: median(of(rows, scenario, name), "cpu_us_per_probe"), measured(rows, BARS))
    axes.set_ylabel("CPU per probe, µs (user + system), log scale")


def lateness(axes: "Axes", rows: list[Row]) -> None:
    def p99(scenario: str, name: str) -> float | None:
        return median(of(rows, scenario, name), "lateness_ms", "p99")

    bars(axes, rows, p99, measured(rows, BARS))
    axes.set_ylabel("lateness p99, ms, log scale")


def ratios(axes: "Axes", rows: list[Row]) -> None:
    """The ratio of probelet to the floor and to the kubelet; 1 means equal cost."""
    scenarios = measured(rows, BARS)
    for place, base in enumerate(("epoll", "kubelet")):
        found = [(x, value) for x, name in enumerate(scenarios) if (value := ratio(rows, name, "probelet", base))]
        at = [x + (place - 0.5) * 0.4 for x, _ in found]
        title = f"probelet / {ENGINES[base].title}"
        drawn = axes.bar(at, [value for _, value in found], 0.4, color=COLOURS[base], label=title)
        axes.bar_label(drawn, [f"{value:.2f}" for _, value in found], fontsize=8, padding=2)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(scenarios)), [scenario.replace("-", "\n") for scenario in scenarios])
    axes.set_xlabel(GROUPS)
    axes.margins(y=0.15)
    axes.set_ylabel("CPU per probe, ratio (below 1: probelet needs less)")
    axes.legend(fontsize=8, frameon=False)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)


def group(rows: list[Row], head: str) -> list[str]:
    """The measured scenarios of a group."""
    return list(dict.fromkeys(row["scenario"] for row in rows if row["scenario"].startswith(head) and "round" in row))


def lines(axes: "Axes", rows: list[Row], scenarios: list[str], across: str, *up: str, style: str = "-") -> list[float]:
    """Draws a line for each engine from its figures, and returns the x values of the points."""
    places = set()
    for name in ENGINES:
        points = []
        for scenario in scenarios:
            mine = of(rows, scenario, name)
            x, y = median(mine, across), median(mine, *up)
            points += [(x, y)] if x is not None and y is not None else []
        if points:
            places |= {x for x, _ in points}
            label = ENGINES[name].title + (f", {up[-1]}" if len(up) > 1 else "")
            look = {"color": COLOURS[name], "marker": MARKERS[name], "linestyle": style, "label": label}
            axes.plot([x for x, _ in points], [y for _, y in points], **look)
    return sorted(places)


def scales(axes: "Axes", places: list[float]) -> None:
    """Makes both axes logarithmic, with the measured values along the bottom, and on the side the steps
    1, 2, 5, 10 around what is drawn: an axis that goes on below the lowest figure makes differences look small."""
    steps = [step * 10.0**decade for decade in range(-4, 7) for step in (1, 2, 5)]
    low, high = axes.dataLim.intervaly
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(places, [f"{place:,.0f}" for place in places])
    axes.minorticks_off()
    axes.set_yticks(steps, [f"{step:,g}" for step in steps])
    axes.set_ylim(max(step for step in steps if step <= low), min(step for step in steps if step >= high))
    axes.legend(fontsize=8, frameon=False)
    axes.grid(alpha=0.3, which="both")


def flatness(axes: "Axes", rows: list[Row]) -> None:
    """Shows whether a probe costs the same, however many probes a second."""
    rates = lines(axes, rows, group(rows, "http-"), "expected_per_second", "cpu_us_per_probe")
    scales(axes, rates)
    axes.set_xlabel("HTTP probes a second that are due, log scale")
    axes.set_ylabel("CPU per probe, µs, log scale")


def density_cost(axes: "Axes", rows: list[Row]) -> None:
    """Shows whether a probe costs the same, however many workers."""
    workers = lines(axes, rows, group(rows, "density-"), "workers", "cpu_us_per_probe")
    scales(axes, workers)
    axes.set_xlabel("workers that make 100 HTTP probes a second between them, log scale")
    axes.set_ylabel("CPU per probe, µs, log scale")


def density_lateness(axes: "Axes", rows: list[Row]) -> None:
    """Shows whether a probe is equally punctual, however many workers. The figure is the prober's own: if a worker's
    period is longer than the measured time, the target cannot know the worker's schedule."""
    scenarios = group(rows, "density-")
    workers = lines(axes, rows, scenarios, "workers", "lateness_inside_ms", "p50", style="--")
    lines(axes, rows, scenarios, "workers", "lateness_inside_ms", "p99")
    scales(axes, workers)
    axes.set_xlabel("workers that make 100 HTTP probes a second between them, log scale")
    axes.set_ylabel("lateness by the prober's own clock, ms, log scale")


@dataclass(frozen=True)
class Plot:
    name: str
    title: str
    paint: Callable[["Axes", list[Row]], None]
    head: str = ""
    """The common prefix of the scenarios in this plot."""

    def file(self, suite: str) -> str:
        return f"{suite}-{self.name}.svg"

    def has(self, rows: list[Row]) -> bool:
        """True if there is anything to show."""
        return bool(group(rows, self.head) if self.head else measured(rows, BARS))

    def draw(self, rows: list[Row], path: Path) -> None:
        """Writes the plot in the format of the path's suffix; the same rows give the same bytes."""
        import matplotlib

        matplotlib.use("Agg")
        matplotlib.rcParams["svg.hashsalt"] = "probelet"
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(10, 5), layout="constrained")
        self.paint(axes, rows)
        axes.set_title(self.title)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
        pyplot.close(figure)


PLOTS = (
    Plot("cpu", "CPU per probe, by handler and probes a second", cost),
    Plot("ratio", "probelet's CPU per probe over the raw loop's and the kubelet's", ratios),
    Plot("lateness", "How late probes are, by handler and probes a second", lateness),
    Plot("flat", "CPU per HTTP probe against the rate", flatness, "http-"),
    Plot("density", "CPU per probe against the number of workers", density_cost, "density-"),
    Plot("punctual", "How late probes are against the number of workers", density_lateness, "density-"),
)
