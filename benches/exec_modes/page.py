"""Renders EXEC.md from the kept result; never edit that file by hand."""

from typing import Any, Final

from benches.machine import ROOT
from benches.report.kept import kept, loads, origin
from benches.report.page import number

SCHEMA: Final = "probelet-exec-modes/2"
RESULT: Final = ROOT / "benches" / "results" / "exec-modes.json"
PAGE: Final = ROOT / "benches" / "EXEC.md"

ROLES: Final = ("prober", "runtime", "helper")

INTRODUCTION: Final = """\
# What an exec probe costs

For readers who decide about `execMode: direct`. `make bench-exec` renders this page; no figure is typed by hand. Real
containers run `true`, on a schedule, with one prober after another. CPU is that of an attempt, user + system time, in
the processes that take part: the prober, the runtime (containerd, its shims, runc, the command), the helper with its
forks and the command; what the runtime uses without any probe is taken off. The bare loop makes the same ExecSync
calls at the same pace with grpc.aio and nothing else. Latency is the prober's own, from the start of an attempt to its
answer; on a busy machine it says more about the machine than about the mode.
"""

RATES: Final = """\
## By rate

| containers | attempts/s | | CPU ms/attempt | prober | runtime | helper | p50 / p99 ms | failed |
|---:|---:|---|---:|---:|---:|---:|---:|---:|
"""

REALISTIC: Final = """\
## A usual node

145 containers of a readiness and a liveness probe each, as on a node of 110 pods: 29 probes a second, 73 % HTTP,
18 % exec, 6 % TCP, 3 % gRPC. The figures are thousandths of a core. The kubelet's prober is `prober.Manager` with the
kubelet's own CRI client, and nothing else of a kubelet.

| | prober | runtime | helper | all |
|---|---:|---:|---:|---:|
"""

JOINS: Final = """\
## Joining the cgroups, by itself

| hierarchies | pause before a join, ms | CPU ms | p50 / p99 ms |
|---:|---:|---:|---:|
"""


def render(report: dict[str, Any]) -> str:
    """The whole page."""
    parts = [INTRODUCTION, RATES + "".join(map(_rate, report["rates"])), _bare(report["rates"])]
    if rows := report.get("realistic"):
        parts.append(REALISTIC + "".join(map(_node, rows)))
    parts.append(JOINS + "".join(map(_join, report["joins"])))
    parts.append("## All at once\n\n| attempts | | all have ended after, ms |\n|---:|---|---:|\n" + _at_once(report))
    parts.append(
        f"{origin(report['machine'])}; containerd {report['containerd']}; {report['runtime_idle_cores']} cores for "
        f"the runtime without a probe; load average {loads(report)}\n"
    )
    return "\n".join(parts)


def _rate(row: dict[str, Any]) -> str:
    parts = [_part(row.get(f"{role}_cpu_ms")) for role in ROLES]
    cells = [
        number(row["containers"]),
        number(row["rate"]),
        row["mode"],
        number(sum(value for value in parts if value is not None), 2),
        *(number(value, 2) for value in parts),
        f"{number(row.get('p50_ms'), 1)} / {number(row.get('p99_ms'), 1)}",
        number(row["failed"]),
    ]
    return f"| {' | '.join(cells)} |\n"


def _part(value: float | None) -> float | None:
    """A role's part. The runtime's housekeeping comes in bursts, so that a short row may have less of it than an idle
    time, and then the difference is below zero."""
    return None if value is None else max(0.0, value)


def _bare(rows: list[dict[str, Any]]) -> str:
    """How the prober's own CPU over the runtime compares with the bare loop's."""
    found = {(row["mode"], row["containers"], row["rate"]): row["prober_cpu_ms"] for row in rows}
    parts = [
        f"{cpu / bare:.2f} x at {rate:g}/s in {containers} containers"
        for (mode, containers, rate), cpu in found.items()
        if mode == "cri" and (bare := found.get(("bare loop", containers, rate)))
    ]
    return f"The prober's own CPU over the runtime, in multiples of the bare loop's: {', '.join(parts)}.\n"


def _node(row: dict[str, Any]) -> str:
    parts = [_part(row["cores"].get(role)) for role in ROLES]
    cells = [number(None if value is None else 1e3 * value, 1) for value in [*parts, sum(filter(None, parts))]]
    return f"| {row['mode']} | {' | '.join(cells)} |\n"


def _join(row: dict[str, Any]) -> str:
    cells = [number(row["hierarchies"]), number(row["pause_ms"]), number(row["cpu_ms"], 2)]
    return f"| {' | '.join(cells)} | {number(row['p50_ms'], 2)} / {number(row['p99_ms'], 2)} |\n"


def _at_once(report: dict[str, Any]) -> str:
    rows = report["at_once"]
    return "".join(f"| {number(row['at_once'])} | {row['mode']} | {number(row['all_ms'])} |\n" for row in rows)


def write() -> None:
    """Renders the page from the kept result."""
    if (report := kept(RESULT)) is not None:
        PAGE.write_text(render(report))
