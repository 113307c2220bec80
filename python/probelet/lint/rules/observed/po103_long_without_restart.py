"""PO103: nobody knows how long a start takes today, because the last one was long ago."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer
from probelet.lint.observed.container import ObservedContainer
from probelet.lint.rule import Rule, on_containers
from probelet.lint.settings import Settings

DAYS: Final = 30
_DAY: Final = 24 * 3600


def check(container: LintContainer) -> Iterator[Hit]:
    """Looks for the youngest replica: one start tells how long they take."""
    ages = [row.age for row in container.observed if row.age is not None]
    budget = container.startup_budget
    if budget is None or not ages or min(ages) <= DAYS * _DAY:
        return
    killer = container.killer
    assert killer is not None  # A container with a budget has a probe that kills it.
    yield killer.hit(
        "",
        f"no replica has started for {min(ages) / _DAY:.0f} days, so nobody knows whether a start still takes less "
        f"than the {budget.earliest} s after which it may be killed",
    )


RULE = Rule(
    id="PO103",
    name="long-without-restart",
    severity="info",
    summary="No replica has started for a month, so the start-up budget is untested.",
    why="""
A start that nobody has seen for months is the one that fails when a node is lost. Regular restarts, for example by
releases or by a descheduler, show a start that has become too long while there is time to mend it. It should not be a
goal to have pods run for weeks.
""",
    formula="age of the youngest container > 30 days",
    source=("Breck, Liveness: regularly restart containers to exercise startup dynamics",),
    fix="`kubectl rollout restart` on a quiet day; `probelet lint` with its observation compares the starts.",
    settings=Settings(observed=(ObservedContainer("default", "web-5d4f-x", "web", age=60 * _DAY),)),
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
-            httpGet: {path: /livez, port: 8080}
-            failureThreshold: 6
+          readinessProbe:
+            httpGet: {path: /readyz, port: 8080}
""",
    check=on_containers(check),
)
