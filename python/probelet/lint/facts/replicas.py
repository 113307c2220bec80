"""How many pods share what a probe asks, for the messages of rules."""

from probelet.lint.model.workload import LintWorkload


def replicas(workload: LintWorkload) -> int:
    """The pods that the manifest or its autoscaler asks for at least; a DaemonSet counts as one."""
    return max(workload.replicas, workload.replicas_min)


def all_of_them(workload: LintWorkload) -> str:
    """For a sentence: ``all 3 replicas``."""
    if workload.is_daemon:
        return "the pods of all nodes"
    count = replicas(workload)
    return f"all {count} replicas" if count > 1 else "its only replica"
