"""Whether somebody sends requests to a workload because its pods are ready."""

from typing import Final

from probelet.lint.model.workload import LintWorkload

JOBS: Final = ("Job", "CronJob")
"""Their pods do their work and end: nobody asks them for anything, unless a Service selects them."""


def has_clients(workload: LintWorkload) -> bool:
    """True if a Service selects the pods, or one may stand elsewhere: where others are here, it probably does not, and
    a Job and an agent of each node mostly have none."""
    has_seldom = workload.is_daemon or workload.kind in JOBS
    return bool(workload.services) or not (has_seldom or workload.scope.neighbours.has_services)
