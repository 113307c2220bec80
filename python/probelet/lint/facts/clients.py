"""Whether somebody sends requests to a workload because its pods are ready."""

from probelet.lint.model.workload import LintWorkload


def has_clients(workload: LintWorkload) -> bool:
    """True if a Service selects the pods, or one may stand elsewhere: where others are here, it probably does not, and
    an agent of each node mostly has none."""
    return bool(workload.services) or not (workload.is_daemon or workload.scope.neighbours.has_services)
