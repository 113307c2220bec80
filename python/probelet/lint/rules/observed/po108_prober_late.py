"""PO108: the prober itself is late, so its findings say little about the container."""

from collections.abc import Iterator
from typing import Final

from probelet.base.words import seconds
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.observed.container import ObservedContainer, ObservedProbe
from probelet.lint.rule import Rule, on_probes
from probelet.lint.settings import Settings

SHARE: Final = 0.1
"""Of a period."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for timeouts of a prober that had no time itself, then compares the lateness of runs with the period."""
    starved = sum(row.starved for row in probe.observed)
    if starved:
        failures = sum(row.failures for row in probe.observed)
        yield probe.hit(
            "timeoutSeconds",
            f"{starved} attempts ran out of time while the prober itself had no CPU, beside {failures} failures in "
            "all: these say nothing about the container, and the node is short of CPU",
        )
        return
    late = max((row.lateness or 0 for row in probe.observed), default=0)
    if late > SHARE * probe.timing.period:
        yield probe.hit(
            "periodSeconds",
            f"runs begin {seconds(late)} after they are due, which is {late / probe.timing.period:.0%} of the period "
            f"of {probe.timing.period} s: the node is short of CPU, and a failure may be the prober's own",
        )


RULE = Rule(
    id="PO108",
    name="prober-late",
    severity="info",
    summary="Runs begin later than they should, because the prober has no time.",
    why="""
Probes of a node share one prober. If it gets no CPU, runs begin late and time limits pass while nobody looks: healthy
containers fail. Before a probe is made more patient because of such failures, the node deserves a look: exec probes
are the usual cause, because each of them is a process.
""",
    formula="lateness > 0.1 x p, or an attempt that timed out in a starved prober",
    source=(
        "docs/metrics.md: probelet_probe_lateness_seconds",
        "https://github.com/kubernetes/kubernetes/issues/89898",
    ),
    fix="Longer periods, fewer exec probes, or CPU that is reserved for the node's own programs.",
    settings=Settings(
        observed=(ObservedContainer("default", "web-5d4f-x", "web", {"liveness": ObservedProbe(runs=90, lateness=3)}),)
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
           livenessProbe:
             httpGet: {path: /livez, port: 8080}
-            failureThreshold: 6
+            periodSeconds: 60
""",
    check=on_probes(check),
)
