"""PL301: a start that takes as long as it may is killed at times."""

from collections.abc import Iterator

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer
from probelet.lint.rule import Rule, on_containers


def check(container: LintContainer) -> Iterator[Hit]:
    """Compares the declared start with the start that surely survives."""
    probe, budget, start = container.killer, container.startup_budget, container.startup_seconds
    if probe is None or budget is None or start is None or not budget.earliest < start <= budget.latest:
        return
    timing = probe.timing
    yield probe.hit(
        "failureThreshold",
        f"a start takes up to {start:g} s, but the {probe.type} probe kills a container that does not answer after "
        f"{budget.earliest} to {budget.latest} s: whether a slow start survives depends on the phase of the ticks "
        f"(initialDelaySeconds {timing.delay}, {timing.patience} failures, period {timing.period} s)",
    )


RULE = Rule(
    id="PL301",
    name="start-budget-too-small",
    severity="error",
    summary="A start that takes as long as declared may be killed before it is done.",
    why="""
A container that is killed during its start begins it again, and takes as long as before. So a budget that is only just
too small is worse than one that is much too small: it works for months, until a restart meets a slow disk or a busy
node, and then the container restarts over and over, all replicas together after a node failure.

The budget that one can rely on is smaller than failureThreshold x periodSeconds: the first attempt may come at once, so
that the failures fit into one period less. `startedAt` has whole seconds, so a delay may be a second shorter.

How long a start takes says the annotation `probelet.dev/startup-seconds` of the pod, or the setting `startup-p99`.
""",
    formula="d - 1 + (F - 1) x p < start <= d + p + (F - 1) x max(p, T) + T of the startup probe, else of liveness",
    source=(
        "Breck, Liveness: you risk never starting the application",
        "https://github.com/cagriekin/charts/issues/141",
        "https://github.com/kubernetes/website/issues/37503",
    ),
    fix="Raise the startup probe's failureThreshold to at least twice the start divided by the period.",
    example="""
 apiVersion: v1
 kind: Pod
 metadata:
   name: web
   annotations: {probelet.dev/startup-seconds: "60"}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       startupProbe:
         httpGet: {path: /livez, port: 8080}
-        periodSeconds: 10
-        failureThreshold: 6
+        periodSeconds: 5
+        failureThreshold: 30
""",
    scenario="startup-drift",
    check=on_containers(check),
)
