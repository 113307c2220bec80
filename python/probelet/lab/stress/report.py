"""The report of a stress run: a page, its figures as JSON, and charts if there is something to draw with."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from probelet.lab.backoff.chart import Chart, Series
from probelet.lab.stress.outcome import LATENESS_MS, Outcome

SCHEMA: Final = "probelet-stress/1"
CHART_SCENES_MAX: Final = 7
"""One scene for each ink."""

INKS: Final = ("today", "new", "minimum", "flat", "rapid", "second", "tiny")


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """The document that ``probelet stress -o json`` prints."""

    schema: str = SCHEMA
    machine: dict[str, str]
    """The machine and the versions."""
    outcomes: list[Outcome]
    """One for each scene."""


def write(document: Document, folder: Path) -> list[Path]:
    """Write ``stress.json``, the charts and ``report.md``; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = folder / "stress.json"
    figures.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")
    drawn = list(_draw(document.outcomes, folder))
    page = folder / "report.md"
    page.write_text("\n".join(_page(document, drawn)) + "\n")
    return [page, figures, *drawn]


def _draw(outcomes: Sequence[Outcome], folder: Path) -> Iterable[Path]:
    try:
        from probelet.lab.backoff.drawing import save
    except ImportError:
        return
    for chart in charts(outcomes):
        path = folder / f"{chart.name}.svg"
        save(chart, path)
        yield path


def charts(outcomes: Sequence[Outcome]) -> list[Chart]:
    """Status writes over time of the first scenes of each clock, and how fast and how late real starts were."""
    found = []
    for clock in ("virtual", "real"):
        some = [outcome for outcome in outcomes if outcome.clock == clock][:CHART_SCENES_MAX]
        if some:
            series = [
                Series(outcome.name, ink, model=outcome.writes_per_10_seconds)
                for outcome, ink in zip(some, INKS, strict=False)
            ]
            title = f"Status writes per 10 s, {clock} clock"
            since, count = "seconds since the first start", "status writes in 10 s"
            found.append(
                Chart(
                    f"writes-{clock}",
                    title,
                    "steps",
                    since,
                    count,
                    series,
                    width=10,
                    y_range=_from_one(series),
                    log=True,
                    panels=True,
                )
            )
    real = [outcome for outcome in outcomes if outcome.cost is not None][:CHART_SCENES_MAX]
    if real:
        series = [
            Series(outcome.name, ink, model=_latencies(outcome)) for outcome, ink in zip(real, INKS, strict=False)
        ]
        x: tuple[str, ...] = ("decision p50", "decision p99", "running p50", "running p99")
        title = "From due to start decision, and to the container running"
        found.append(Chart("start-latency", title, "bars", "", "milliseconds", series, x=x, log=True))
        title = "How long after the end of a back-off its start was decided"
        series = [
            Series(outcome.name, ink, model=[bucket.count for bucket in outcome.lateness])
            for outcome, ink in zip(real, INKS, strict=False)
        ]
        x = (*(f"{edge:g}" for edge in LATENESS_MS), "more")
        found.append(
            Chart(
                "lateness",
                title,
                "bars",
                "milliseconds, at most",
                "starts",
                series,
                x=x,
                y_range=_from_one(series),
                log=True,
            )
        )
    return found


def _from_one(series: Sequence[Series]) -> tuple[float, float]:
    """The range of a logarithmic axis for counts: a bar of 1 is seen, and the legend has room above the highest one."""
    return 0.5, 5 * max(1.0, *(count for one in series for count in one.model))


def _latencies(outcome: Outcome) -> list[float]:
    cost = outcome.cost
    assert cost is not None, "only real outcomes are asked"
    return [cost.start_decision_ms.p50, cost.start_decision_ms.p99, cost.start_ms.p50, cost.start_ms.p99]


def _page(document: Document, drawn: Sequence[Path]) -> Iterable[str]:
    yield "# Stress of crash-looping containers"
    yield ""
    yield "; ".join(f"{key} {value}" for key, value in document.machine.items())
    yield ""
    yield "A restart is *early* when it comes before the end of its back-off; there must be none. In virtual time every"
    yield "restart must come at the nanosecond of the model. A *write* is a pod status that the API server is sent."
    for clock, title in (("virtual", "Virtual time"), ("real", "Real clock")):
        some = [outcome for outcome in document.outcomes if outcome.clock == clock]
        if some:
            yield from ("", f"## {title}", "", *_table(some))
    yield from ("", *_lateness(document.outcomes))
    if any(outcome.cost for outcome in document.outcomes):
        yield from ("", *_costs([outcome for outcome in document.outcomes if outcome.cost]))
    for path in drawn:
        yield from ("", f"![{path.stem}]({path.name})")


def _table(outcomes: Sequence[Outcome]) -> Iterable[str]:
    yield "| scene | s | restarts | model | exact | early | writes | a restart | write p50 / p99 ms | pods waiting |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for one in outcomes:
        exact = {True: "yes", False: "**no**", None: "-"}[one.exact]
        model = "-" if one.expected_restarts is None else f"{one.expected_restarts:,}"
        delay = f"{one.write_delay_ms.p50:,.0f} / {one.write_delay_ms.p99:,.0f}"
        yield (
            f"| {one.name} | {one.seconds:,.0f} | {one.restarts:,} | {model} | {exact} | {one.early} "
            f"| {one.status_writes:,} | {one.writes_per_restart:.2f} | {delay} | {one.pods_waiting_max} |"
        )


def _lateness(outcomes: Sequence[Outcome]) -> Iterable[str]:
    yield "How long after the end of a back-off its start was decided, in milliseconds; each column counts what is"
    yield "above the one before. *Entries* are those of the back-off table when the scene ended, and ten minutes after"
    yield "its pods had gone; *timers* were armed when it ended."
    yield ""
    edges = [f"<= {edge:g}" for edge in LATENESS_MS]
    yield f"| scene | clock | {' | '.join(edges)} | more | entries | after GC | timers |"
    yield "|---" * (len(edges) + 6) + "|"
    for one in outcomes:
        counts = " | ".join(f"{bucket.count:,}" for bucket in one.lateness)
        memory = one.memory
        yield (
            f"| {one.name} | {one.clock} | {counts} "
            f"| {memory.entries:,} | {memory.entries_after_gc} | {memory.timers:,} |"
        )


def _costs(outcomes: Sequence[Outcome]) -> Iterable[str]:
    yield "CPU is that of the node service, and beside it of the runtime and its containers. *Due* is the end of the"
    yield "back-off. A burst is what was due together."
    yield ""
    yield (
        "| scene | CPU ms a restart | runtime's | RSS MiB (most) | due to decision p50 / p99 ms "
        "| due to running p50 / p99 ms | burst, restarts/s |"
    )
    yield "|---|---|---|---|---|---|---|"
    for one in outcomes:
        cost = one.cost
        assert cost is not None, "only real outcomes are asked"
        mebibytes = f"{cost.resident_bytes / 2**20:.0f} ({cost.resident_bytes_max / 2**20:.0f})"
        yield (
            f"| {one.name} | {cost.cpu_ms_per_restart:.2f} | {cost.runtime_cpu_ms_per_restart:.2f} | {mebibytes} "
            f"| {cost.start_decision_ms.p50:.1f} / {cost.start_decision_ms.p99:.1f} "
            f"| {cost.start_ms.p50:.1f} / {cost.start_ms.p99:.1f} | {cost.burst_restarts_per_second:,.0f} |"
        )
