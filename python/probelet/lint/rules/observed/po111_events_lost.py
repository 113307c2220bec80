"""PO111: more probes failed than a kubelet writes events about."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from probelet.base.words import seconds
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintWorkload
from probelet.lint.observed.container import ObservedContainer, ObservedProbe
from probelet.lint.observed.outage import HOUR
from probelet.lint.rule import Rule, on_workloads
from probelet.lint.settings import Settings

BURST: Final = 25
"""Events about one object that client-go lets through at once."""
REFILL: Final = 300
"""Seconds after which it lets through one more."""


def check(workload: LintWorkload) -> Iterator[Hit]:
    """Adds up the failures of each pod: the limit is that of the object."""
    failures: defaultdict[str, int] = defaultdict(int)
    spans: defaultdict[str, float] = defaultdict(float)
    for container in workload.probed:
        for row in container.observed:
            if row.span is not None:
                failures[row.pod] += sum(row.probes[each].failures for each in container.probes if each in row.probes)
                spans[row.pod] = max(spans[row.pod], row.span)
    lost = {pod: count - BURST - int(spans[pod] / REFILL) - 1 for pod, count in failures.items()}
    worst = max(lost, key=lambda pod: lost[pod], default="")
    if worst and lost[worst] > 0:
        yield workload.hit(
            "",
            f"probes of {worst} failed {failures[worst]} times in {seconds(spans[worst])}, and a kubelet writes "
            f"events about at most {BURST} of them at once and one more every {REFILL} s: at least {lost[worst]} "
            "failures, and what followed them, have no event",
        )


RULE = Rule(
    id="PO111",
    name="events-lost",
    severity="info",
    summary="Failures of probes are so many that a kubelet drops the events about them.",
    why="""
A kubelet reports each failed probe as an event, and its library lets 25 events about one pod through at once and one
more every five minutes. A probe that fails every ten seconds uses this up within some minutes. After that the events
that matter are lost as well: the kill, the restart, the recovery. `kubectl describe pod` then shows an incident that
never ended, or a restart for no reason.

The count is a lower bound: other events of the pod share the limit. Metrics count every failure, `probelet events` and
a recording of the flight recorder have them all.
""",
    formula="failures of a pod > 25 + seconds / 300",
    source=(
        "client-go/tools/record/events_cache.go: defaultSpamBurst, defaultSpamQPS",
        "https://github.com/kubernetes/kubernetes/issues/95637",
    ),
    fix="Alert on `prober_probe_total` and not on events; mend the probe that fails all the time.",
    settings=Settings(
        observed=(
            ObservedContainer(
                "default", "web-5d4f-x", "web", {"readiness": ObservedProbe(runs=720, failures=300)}, span=2 * HOUR
            ),
        )
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
-          readinessProbe:
-            httpGet: {path: /readyz, port: 8080}
+          livenessProbe:
+            httpGet: {path: /livez, port: 8080}
+            failureThreshold: 6
""",
    check=on_workloads(check),
)
