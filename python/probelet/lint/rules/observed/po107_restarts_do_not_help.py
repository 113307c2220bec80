"""PO107: a liveness probe restarts a container again and again."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer
from probelet.lint.observed.container import ObservedContainer
from probelet.lint.rule import Rule, on_containers
from probelet.lint.settings import Settings

RESTARTS_MIN: Final = 3


def check(container: LintContainer) -> Iterator[Hit]:
    """Counts kills in a row, and the replicas that wait for their next start after several restarts."""
    killer, budget = container.killer, container.startup_budget
    if killer is None or budget is None:
        return
    kills = max((row.kills_in_row for row in container.observed), default=0)
    if kills >= RESTARTS_MIN:
        yield killer.hit(
            "",
            f"a probe ended {kills} runs of one replica in a row: a kill does not mend what is wrong, or a start needs "
            f"more than the {budget.earliest} s that it has for sure",
        )
        return
    looping = [row for row in container.observed if row.is_waiting and (row.restarts or 0) >= RESTARTS_MIN]
    if not looping:
        return
    restarts = max(row.restarts or 0 for row in looping)
    yield killer.hit(
        "",
        f"{len(looping)} of {len(container.observed)} replicas wait for a start after up to {restarts} restarts: a "
        f"kill does not mend what is wrong, or a start needs more than the {budget.earliest} s that it has for sure",
    )


RULE = Rule(
    id="PO107",
    name="restarts-do-not-help",
    severity="warning",
    summary="Containers that a probe can kill are in back-off after several restarts.",
    why="""
A restart mends a deadlock or a leak. It does not mend a wrong configuration, a dependency that is gone, or a start
that is killed before its end; then each kill costs the pod the back-off, up to five minutes, and gives its load to
the others.

The logs of the last run say which one it is (`kubectl logs --previous`).
""",
    formula="3 kills by probes in a row, or 3 restarts and the container waits for its next start",
    source=("Breck, Liveness: killed and restarted, repeatedly, before completely starting",),
    fix="Give the start more time if it needs it; otherwise take out of the probe what a restart cannot mend.",
    settings=Settings(
        observed=(ObservedContainer("default", "web-5d4f-x", "web", restarts=17, is_waiting=True),),
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
-            httpGet: {path: /livez, port: 8080}
-            failureThreshold: 6
+          readinessProbe:
+            httpGet: {path: /readyz, port: 8080}
""",
    check=on_containers(check),
)
