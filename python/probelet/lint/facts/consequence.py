"""Words for the fate of a pod whose probe never succeeds, for the messages of rules."""

from probelet.lint.model.workload import LintProbe


def of_failing(probe: LintProbe) -> str:
    """Returns the effect of attempts that always fail, with the seconds from the start of the container."""
    budget = probe.container.startup_budget
    if probe.type == "readiness" or budget is None:
        return "the pod is never ready"
    if probe.type == "liveness" and probe.container.startup is not None and probe.bounds.to_kill is not None:
        kill = probe.bounds.to_kill
        return f"the container is killed {kill.earliest} to {kill.latest} s after its startup probe has passed"
    return f"the container is killed {budget.earliest} to {budget.latest} s after each start"


def of_errors(probe: LintProbe) -> str:
    """Returns the effect of attempts that end in an error of the prober, which counts for nothing."""
    match probe.type:
        case "readiness":
            return "the pod is never ready"
        case "startup":
            return "the container never counts as started, so the pod is never ready, and liveness never runs"
        case "liveness":
            return "a container that hangs is never restarted"


def of_no_program(probe: LintProbe) -> str:
    """Returns the effect of attempts whose program cannot start. containerd makes an error of the prober of them; a
    runtime that answers with an exit code makes a failure of them."""
    if probe.type == "readiness":
        return "the pod is never ready"
    return (
        f"with containerd this is an error that counts for nothing, so {of_errors(probe)}; with a runtime that makes a "
        f"failure of it {of_failing(probe)}"
    )
