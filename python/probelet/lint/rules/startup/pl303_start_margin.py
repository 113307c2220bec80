"""PL303: a start has little more time than it needs."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.facts.image import database, slow_start
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer
from probelet.lint.rule import Rule, on_containers

MARGIN: Final = 2
"""A start on a busy node, with twice the data of today, takes about twice as long."""

SHORT: Final = 60
"""Seconds that a program with a slow start should have at least."""


def check(container: LintContainer) -> Iterator[Hit]:
    """Compares the start that surely survives with the declared one, or with what such programs need."""
    probe, budget, start = container.killer, container.startup_budget, container.startup_seconds
    if probe is None or budget is None:
        return
    if start is not None:
        if start <= budget.earliest < MARGIN * start:
            yield probe.hit(
                "failureThreshold",
                f"a start takes up to {start:g} s, and one of more than {budget.earliest} s may be killed: that is "
                f"{budget.earliest / start:.1f} times the start, and {MARGIN} times is a margin for the day on which "
                "the node is busy",
            )
        return
    reason = slow_start(container)
    if reason is None or database(container) is not None or budget.earliest >= SHORT:
        return
    yield probe.hit(
        "" if container.startup is None else "failureThreshold",
        f"{reason} has {budget.earliest} s for its start, then the {probe.type} probe may kill it: "
        f"at most {budget.latest} s after the container runs (initialDelaySeconds {probe.timing.delay}, "
        f"{probe.timing.patience} failures, period {probe.timing.period} s)",
        confidence="heuristic",
        said_by=("PL302",),
    )


RULE = Rule(
    id="PL303",
    name="start-margin",
    severity="warning",
    summary="A start has little more time than it usually needs.",
    why="""
Starts get slower: more data to load, a network that is further away, a node on which ten other pods start at the same
time, a CPU limit that throttles. A budget that fits the start of today is too small on the day when many containers
start at once, which is the day after a failure. Then they all restart for ever.

The rule compares with twice the declared start (the annotation `probelet.dev/startup-seconds` or the setting
`startup-p99`). Without one it only looks at programs that are known for slow starts, Java and servers that load models,
and wants 60 s for them. That is a guess from names, and the finding says so.
""",
    formula="d - 1 + (F - 1) x p < 2 x start, or < 60 s for a Java program or a server that loads a model",
    source=(
        "Breck, Liveness: a subtle problem comes from the container startup-latency changing over time",
        "https://github.com/kubernetes/enhancements/issues/950",
    ),
    fix="""
A startupProbe with a large failureThreshold costs nothing when the start is quick. Declare the start in the annotation.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata:
   name: web
   annotations: {probelet.dev/startup-seconds: "20"}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       startupProbe:
         httpGet: {path: /livez, port: 8080}
         periodSeconds: 5
-        failureThreshold: 6
+        failureThreshold: 24
""",
    scenario="startup-drift",
    check=on_containers(check),
)
