"""PL511: a roll-out counts as failed while a start still has time."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintWorkload
from probelet.lint.rule import Rule, on_workloads

DEFAULT: Final = 600
"""progressDeadlineSeconds of a Deployment that has none."""


def check(workload: LintWorkload) -> Iterator[Hit]:
    """Compares the deadline of a Deployment with the time that its probes give a start."""
    if workload.kind != "Deployment":
        return
    deadline = workload.number("progress_deadline_seconds", DEFAULT)
    budgets = [(container.startup_budget, container) for container in workload.probed]
    for budget, container in budgets:
        if budget is not None and budget.earliest > deadline:
            yield workload.hit(
                "spec.progressDeadlineSeconds",
                container.of(
                    f"the probes give a start {budget.earliest} to {budget.latest} s, and after "
                    f"progressDeadlineSeconds {deadline} without a ready pod the roll-out counts as failed, while the "
                    "containers may still start"
                ),
            )
            return


RULE = Rule(
    id="PL511",
    name="deadline-before-start",
    severity="info",
    summary="A roll-out counts as failed before the probes have given up on a start.",
    why="""
A Deployment without progress for `progressDeadlineSeconds`, 600 s by default, gets the condition
ProgressDeadlineExceeded. `kubectl rollout status` ends with an error, and pipelines roll back: because of starts that
the startup probe still allows. The two numbers are in different places of the manifest, and the probe's is mostly the
one that somebody has raised.
""",
    formula="d - 1 + (F - 1) x p > progressDeadlineSeconds",
    source=("https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#progress-deadline-seconds",),
    fix="""
Set progressDeadlineSeconds above the latest of the seconds, or lower the failureThreshold of the startup probe.
""",
    example="""
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
+  progressDeadlineSeconds: 1800
   selector: {matchLabels: {app: web}}
   template:
     metadata: {labels: {app: web}}
     spec:
       containers:
         - name: web
           image: registry.example/web:1
           startupProbe:
             httpGet: {path: /livez, port: 8080}
             periodSeconds: 10
             failureThreshold: 120
""",
    check=on_workloads(check),
)
