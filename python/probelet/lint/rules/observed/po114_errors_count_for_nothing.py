"""PO114: many runs end in an error of the prober, which counts as no outcome."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.observed.container import ObservedContainer, ObservedProbe
from probelet.lint.rule import Rule, on_probes
from probelet.lint.settings import Settings

SHARE: Final = 0.1
RUNS_MIN: Final = 20


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for the replica with the largest share of errors."""
    rows = [row for row in probe.observed if row.runs >= RUNS_MIN and row.errors > SHARE * row.runs]
    if rows:
        worst = max(rows, key=lambda row: row.errors / row.runs)
        yield probe.hit(
            "",
            f"{worst.errors} of {worst.runs} runs ended in an error of the prober, which counts neither as a success "
            "nor as a failure: the probe decides nothing while its result stays as it is",
        )


RULE = Rule(
    id="PO114",
    name="errors-count-for-nothing",
    severity="warning",
    summary="A probe often ends in an error of the prober, so it decides nothing.",
    why="""
A named port that no port has, a program that the container lacks, a runtime that does not answer: such a run is an
error of the prober. It changes no result. A liveness probe that always errs never kills, and a container stays ready
however long its readiness probe errs.
""",
    formula="errors > 0.1 x runs, with at least 20 runs",
    source=("kubernetes/pkg/kubelet/prober/worker.go: doProbe, 1.36", "docs/probes.md"),
    fix="The event ProbeError names the reason: `probelet events`, `kubectl describe pod`.",
    settings=Settings(
        observed=(ObservedContainer("default", "web-5d4f-x", "web", {"liveness": ObservedProbe(runs=90, errors=80)}),)
    ),
    example="""
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
   replicas: 2
   selector: {matchLabels: {app: web}}
   template:
     metadata: {labels: {app: web}}
     spec:
       containers:
         - name: web
           image: registry.example/web:1
-          livenessProbe:
-            exec: {command: [./healthy]}
-            failureThreshold: 6
-            timeoutSeconds: 5
+          readinessProbe:
+            httpGet: {path: /readyz, port: 8080}
""",
    check=on_probes(check),
)
