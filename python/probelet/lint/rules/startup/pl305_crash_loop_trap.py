"""PL305: every start is killed before it is done."""

from collections.abc import Iterator

from probelet.lab.explain.crash_loop import crash_loop
from probelet.lab.explain.span import Span
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer
from probelet.lint.rule import Rule, on_containers


def check(container: LintContainer) -> Iterator[Hit]:
    """Compares the declared start with the longest life of a container that does not answer."""
    probe, budget, start = container.killer, container.startup_budget, container.startup_seconds
    if probe is None or budget is None or start is None or start <= budget.latest:
        return
    again = "and its restarts do not help"
    if container.workload.runs_forever:
        again = f"and again after every restart: {_duty(budget)}"
    yield probe.hit(
        "failureThreshold",
        f"the container never gets up: its start takes up to {start:g} s, and the {probe.type} probe kills it "
        f"after {budget.earliest} to {budget.latest} s, {again}",
    )


def _duty(budget: Span) -> str:
    """How a container that never gets up spends its time."""
    loop = crash_loop(budget)
    if not loop.plateau_seconds:
        return "it lives too long for the back-off, and restarts for ever without a pause"
    # At the plateau every second restart is immediate.
    share = 2 * budget.latest / (2 * budget.latest + loop.plateau_seconds)
    return (
        f"from restart {loop.after_restarts} on it waits {loop.plateau_seconds} s before every second restart, and "
        f"runs at most {min(share, 1):.0%} of the time"
    )


RULE = Rule(
    id="PL305",
    name="crash-loop-trap",
    severity="error",
    summary="Every start that takes as long as declared is killed, so the container never gets up.",
    why="""
The probe that should find a container that hangs cannot tell it from one that is still starting. If every start takes
longer than the probe's patience, then every start is killed, and the next one begins from nothing. The restarts slow
down to one in five minutes, the pod is never ready, and nothing but a change of the manifest ends it. A node that fails
is enough to bring all replicas into this state at once.

How long a start takes says the annotation `probelet.dev/startup-seconds` of the pod, or the setting `startup-p99`.
""",
    formula="start > d + p + (F - 1) x max(p, T) + T of the startup probe, else of liveness",
    source=(
        "Breck, Liveness: being killed and restarted, repeatedly, before completely starting",
        "https://github.com/cagriekin/charts/issues/141",
        "https://github.com/sapcc/openstack-helm/pull/64",
    ),
    fix="""
Add a startupProbe with the liveness probe's handler, whose failureThreshold x periodSeconds is twice the start.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata:
   name: web
   annotations: {probelet.dev/startup-seconds: "90"}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
+      startupProbe:
+        httpGet: {path: /livez, port: 8080}
+        periodSeconds: 5
+        failureThreshold: 40
       livenessProbe:
         httpGet: {path: /livez, port: 8080}
-        initialDelaySeconds: 20
""",
    scenario="startup-drift",
    check=on_containers(check),
)
