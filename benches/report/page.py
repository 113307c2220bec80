"""Renders RESULTS.md from the kept results; never edit that file by hand."""

from benches.engines import ENGINES
from benches.machine import ROOT
from benches.measure.scenario import Scenario, read
from benches.report import budget, results
from benches.report.kept import origin
from benches.report.plots import PLOTS
from benches.report.results import FOLDER, Document
from benches.report.statistic import Row, median, of, ratio, skipped

PAGE = ROOT / "benches" / "RESULTS.md"

INTRODUCTION = """\
# Results

For readers who want to compare probelet with other probers. `make bench` renders this page from the files in
`results/`; no figure is typed by hand. In each scenario the engines take turns against the same target, which runs on
the same cores in a process of its own. A figure is the median of the rounds; a ratio is the median of the ratios of
neighbouring runs. CPU is user + system time of the prober. The target measures lateness when it accepts a connection,
against each worker's own schedule; where it also measured the first byte of each request, that is the second line. The
raw loop keeps a schedule and nothing else: no thresholds, no results, no messages. [README.md](README.md) explains how
each figure is taken.
"""

COLUMNS = (
    "| | probes/s | CPU us/probe | x raw loop | x kubelet | false failures | late p50 / p99 / max ms "
    "| bytes/worker | add / remove ms | wake-ups/s |"
)


def render(documents: dict[str, Document | None], micro: list[str]) -> str:
    """Returns the whole page from ``documents``, the kept suites by name, and ``micro``, the microbenchmarks' part."""
    lines = [INTRODUCTION]
    for name, title in (("bench", "Main scenarios"), ("full", "All scenarios")):
        document = documents.get(name)
        if document is not None:
            lines += [f"## {title}", "", *suite(document)]
    return "\n".join([*lines, *micro]).rstrip("\n") + "\n"


def suite(document: Document) -> list[str]:
    rows: list[Row] = document["rows"]
    lines = budget.lines(rows, budget.read())
    lines += [f"![{plot.title}](results/{plot.file(document['suite'])})" for plot in PLOTS if plot.has(rows)]
    known = {scenario.name: scenario for scenario in read()["full"].scenarios}
    for name in dict.fromkeys(row["scenario"] for row in rows):
        lines += ["", *table(known[name], rows)]
    return [*lines, "", f"`{document['command']}`: {origin(document['machine'])}; result {document['digest']}", ""]


def table(scenario: Scenario, rows: list[Row]) -> list[str]:
    """The table of a scenario's engines; an engine that was not measured has no line."""
    head = f"### {scenario.title}: {scenario.workers:,} workers"
    lines = [head, "", COLUMNS, "|---" + "|---:" * 9 + "|"]
    notes = []
    for name, engine in ENGINES.items():
        mine = of(rows, scenario.name, name)
        if beaten := skipped(rows, scenario.name, name):
            notes.append(f"{engine.title}: not run, it was saturated at {beaten} workers.")
        if mine:
            lines.append(f"| {engine.title} | " + " | ".join(cells(scenario.name, name, rows)) + " |")
            burst = median(mine, "burst_ms")
            notes += [f"{engine.title}: from the first to the last of a period {burst:,.0f} ms."] if burst else []
            limits = [row["limit"] for row in mine if row["limit"]]
            notes += [f"{engine.title} at its limit: {limits[-1]}."] if limits else []
    return [*lines, *(["", " ".join(notes)] if notes else [])]


def cells(scenario: str, name: str, rows: list[Row]) -> list[str]:
    mine = of(rows, scenario, name)
    late = lateness(mine, "lateness_ms")
    if first_byte := lateness(mine, "first_byte_lateness_ms"):
        late += f"<br>{first_byte}"
    failures, probes = sum(row["false_failures"] for row in mine), sum(row["probes"] for row in mine)
    part = f" ({failures / probes:.1%})" if failures and probes else ""
    return [
        number(median(mine, "probes_per_second")),
        number(median(mine, "cpu_us_per_probe"), 1),
        number(ratio(rows, scenario, name, "epoll"), 2),
        number(ratio(rows, scenario, name, "kubelet"), 2),
        f"{failures:,}{part}",
        late,
        number(median(mine, "bytes_per_worker")),
        " / ".join(filter(None, (number(median(mine, key)) for key in ("add_ms", "remove_ms")))),
        number(median(mine, "wakeups_per_second")),
    ]


def lateness(rows: list[Row], field: str) -> str:
    """The quantiles of one kind of lateness, or nothing where no row has them: older rows have no first byte."""
    quantiles = [number(median(rows, field, quantile), 2) for quantile in ("p50", "p99", "max")]
    return " / ".join(quantiles) if quantiles[0] else ""


def number(value: float | None, digits: int = 0) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def write(micro: list[str]) -> None:
    documents = {name: results.load(name) for name in ("bench", "full")}
    for document in documents.values():
        if document is not None:
            for plot in PLOTS:
                if plot.has(document["rows"]):
                    plot.draw(document["rows"], FOLDER / plot.file(document["suite"]))
    PAGE.write_text(render(documents, micro))
