"""The table of ``probelet stress``."""

from collections.abc import Sequence

from probelet.cli.columns import columns
from probelet.lab.stress.outcome import Outcome

_EXACT = {True: "yes", False: "NO", None: "-"}


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """One line per scene; for real scenes also a second table with their costs."""
    rows = [["scene", "seconds", "restarts", "model", "exact", "early", "writes", "per restart"]]
    rows += [
        [
            one.name,
            f"{one.seconds:,.0f}",
            f"{one.restarts:,}",
            "-" if one.expected_restarts is None else f"{one.expected_restarts:,}",
            _EXACT[one.exact],
            str(one.early),
            f"{one.status_writes:,}",
            f"{one.writes_per_restart:.2f}",
        ]
        for one in outcomes
    ]
    costs = [["scene", "CPU ms/restart", "runtime's", "RSS MiB", "decided p50/p99 ms", "ran p50/p99 ms", "burst/s"]]
    for one in outcomes:
        if (cost := one.cost) is not None:
            decided, ran = cost.start_decision_ms, cost.start_ms
            costs.append(
                [
                    one.name,
                    f"{cost.cpu_ms_per_restart:.2f}",
                    f"{cost.runtime_cpu_ms_per_restart:.2f}",
                    f"{cost.resident_bytes / 2**20:.0f}",
                    f"{decided.p50:.1f}/{decided.p99:.1f}",
                    f"{ran.p50:.1f}/{ran.p99:.1f}",
                    f"{cost.burst_restarts_per_second:,.0f}",
                ]
            )
    return [*columns(rows), *(["", *columns(costs)] if len(costs) > 1 else [])]
