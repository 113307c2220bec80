"""Results as JSON, and the page that is rendered from them and never written by hand."""

import hashlib
import json
import statistics
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
JSON = FOLDER / "results" / "http.json"
PAGE = FOLDER / "RESULTS.md"

ENGINES = {
    "epoll": "raw epoll loop, a wake-up a probe",
    "epoll-tick": "raw epoll loop, a wake-up a millisecond",
    "probelet": "probelet",
}
"""What is compared, in the order of the table. The first is what the others are measured by."""


def digest(rows: list[dict[str, Any]]) -> str:
    """Names a set of rows, so that a table that was edited by hand does not pass for a measured one."""
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:12]


def median(rows: list[dict[str, Any]], *path: str) -> float:
    def value(row: Any) -> float:
        for key in path:
            row = row[key]
        return float(row)

    return statistics.median(value(row) for row in rows)


def ratio(rows: list[dict[str, Any]], name: str, workers: int) -> float:
    """CPU per probe over that of the raw loop: the median of the ratios of neighbouring runs."""

    def cpu(engine: str) -> list[float]:
        return [row["cpu_us_per_probe"] for row in rows if row["engine"] == engine and row["workers"] == workers]

    return statistics.median(a / b for a, b in zip(cpu(name), cpu("epoll"), strict=True))


def render(document: dict[str, Any]) -> str:
    rows, idle = document["rows"], document["idle"]
    lines = [
        "# Results",
        "",
        "Rendered by `make bench` from `results/http.json`, never typed. Every engine probes the same target in the",
        "same run, taking turns; figures are medians of the rounds. CPU is user + system time of the prober.",
        "Lateness is stamped by the target as it accepts, against each worker's own grid. The raw loops have the same",
        "schedule and nothing else: no thresholds, no results, no messages.",
        "",
        "| HTTP on loopback | probes/s | CPU us/probe | x first row | false failures | late p50 / p99 / max ms |",
        "|---|---|---|---|---|---|",
    ]
    for workers in sorted({row["workers"] for row in rows}):
        for engine, name in ENGINES.items():
            same = [row for row in rows if row["workers"] == workers and row["engine"] == engine]
            late = " / ".join(f"{median(same, 'lateness_ms', q):.2f}" for q in ("p50", "p99", "max"))
            lines.append(
                f"| {name} | {median(same, 'probes_per_second'):,.0f} | {median(same, 'cpu_us_per_probe'):.1f} "
                f"| {ratio(rows, engine, workers):.2f} | {sum(row['false_failures'] for row in same)} | {late} |"
            )
    lines += [
        "",
        f"{idle['workers']:,} idle workers: {idle['bytes_per_worker']:,} bytes of RSS each above the pod objects, "
        f"added in {idle['add_ms']:,.0f} ms.",
        "",
        "; ".join(f"{key} {value}" for key, value in document["machine"].items()) + f"; result {document['digest']}",
        "",
    ]
    return "\n".join(lines)
