"""PL309: a startup probe that kills after its first failed attempt."""

from collections.abc import Iterator

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks at the failures before the first success."""
    timing, first, budget = probe.timing, probe.bounds.first_probe, probe.bounds.startup_budget
    if timing.patience != 1 or budget is None:
        return
    yield probe.hit(
        "failureThreshold",
        f"failureThreshold 1 lets the startup probe ask once: it asks {first.earliest} to {first.latest} s after the "
        f"container's start (initialDelaySeconds {timing.delay}, period {timing.period} s), and a container that is "
        f"not up then, or does not answer within {timing.timeout} s, is killed {budget.earliest} to {budget.latest} s "
        "after its start",
        said_by=("PL301", "PL305"),
    )


RULE = Rule(
    id="PL309",
    name="start-without-a-second-attempt",
    severity="warning",
    summary="The startup probe kills the container after one failed attempt.",
    why="""
A startup probe asks again and again, so that a start may take as long as it takes. With `failureThreshold: 1` it asks
once. What is left is a fixed delay, as before there were startup probes: a start that is slower one day is killed, and
so is each start after it, because it begins from nothing. The first attempt may even come at once, as
`initialDelaySeconds` is 0 unless the manifest says otherwise.
""",
    formula="F = 1; killed d - 1 to d + p + T after the start",
    source=(
        "kubernetes/pkg/kubelet/prober/worker.go: doProbe, 1.36",
        "https://github.com/kubernetes/enhancements/issues/950",
    ),
    fix="Give it as many attempts as the slowest start needs: failureThreshold x periodSeconds is the budget.",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       startupProbe:
         httpGet: {path: /livez, port: 8080}
-        initialDelaySeconds: 30
-        failureThreshold: 1
+        periodSeconds: 5
+        failureThreshold: 30
""",
    scenario="startup-drift",
    check=on_probes(check, "startup"),
)
