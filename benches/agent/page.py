"""Renders AGENT.md from the kept result; never edit that file by hand."""

import json
from typing import Any, Final

from benches.machine import ROOT
from benches.report.kept import loads, origin
from benches.report.page import number

SCHEMA: Final = "probelet-agent-costs/2"
RESULT: Final = ROOT / "benches" / "results" / "agent.json"
PAGE: Final = ROOT / "benches" / "AGENT.md"

INTRODUCTION: Final = """\
# What the agent costs on a node

For cluster operators. `make bench-agent` renders this page; no figure is typed by hand. Each pod has one container with
an HTTP readiness probe every 5 s and a liveness probe every 17 s, 0.26 a second. `probelet agent` is a process of
its own, as a user starts it; runtime and API server answer at once. The last row is the kubelet's `prober.Manager` with
the same probes and nothing else of a kubelet: what a kubelet saves when its pods are taken over. Its memory is what the
workers add; the agent's is all of its process.

| | pods | CPU, % of a core | memory, MiB | calls of the runtime a second |
|---|---:|---:|---:|---:|
"""


def render(report: dict[str, Any]) -> str:
    """The whole page."""
    rows = "".join(map(_row, report["rows"]))
    return f"{INTRODUCTION}{rows}\n{origin(report['machine'])}; load average {loads(report)}\n"


def _row(row: dict[str, Any]) -> str:
    cells = [number(row["pods"]), number(row["cpu_percent"], 2), number(row["rss_mib"], 1)]
    return f"| {row['prober']} | {' | '.join(cells)} | {number(row['runtime_calls_a_second'], 1)} |\n"


def keep(report: dict[str, Any]) -> None:
    """Keeps a result and renders the page from it."""
    RESULT.write_text(json.dumps(report, indent=2) + "\n")
    PAGE.write_text(render(json.loads(RESULT.read_text())))
