"""PL103: a short disturbance takes replicas out of service."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.facts.dependency import dependency
from probelet.lint.facts.replicas import replicas
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

SHORTEST: Final = 10
"""Seconds of failures that a pod behind a Service should survive: a long garbage collection, or a busy moment."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the shortest disturbance that ends in unreadiness with ``SHORTEST``."""
    workload, timing, unready = probe.container.workload, probe.timing, probe.bounds.to_unready
    if unready is None or unready.earliest >= SHORTEST or replicas(workload) < 2 or not workload.services:
        return
    if timing.failures == 1:
        because = f"a single attempt that fails or takes longer than {timing.timeout} s takes a replica out of service"
    else:
        because = (
            f"{timing.failures} attempts that fail or take longer than {timing.timeout} s take a replica out of "
            f"service, and a disturbance of {max(unready.earliest, 1)} s may be enough for them"
        )
    # Where the replicas fail for reasons of their own, a quick reaction may be a decision.
    is_shared = timing.failures == 1 or dependency(probe) is not None
    yield probe.hit(
        "failureThreshold",
        f"{because} (failureThreshold {timing.failures}, period {timing.period} s); a disturbance that all "
        f"{replicas(workload)} replicas share empties the Service {workload.services[0].metadata.name}",
        severity=None if is_shared else "info",
        # Where a period as long as the timeout is enough, the timeout is the cause.
        said_by=("PL401", "PL418") if (timing.failures - 1) * timing.gap >= SHORTEST else (),
    )


RULE = Rule(
    id="PL103",
    name="readiness-hair-trigger",
    severity="warning",
    summary="A disturbance of a few seconds takes replicas out of service.",
    why="""
Traffic that comes in bursts, a garbage collection or a slow name server make every replica slow at the same time. With
a small `failureThreshold` the replicas leave the Service one after the other, the rest gets their load and follows. The
disturbance would have been over after some seconds; the outage lasts until the replicas have come back.

One failed attempt is no news about a server: a lost packet is enough. With one replica, or without a Service, the rule
says nothing.
""",
    formula="(F - 1) x p < 10 s; (F - 2) x p, if T is longer than p",
    source=(
        "Breck, Readiness: you may want to increase the failureThreshold count",
        "https://github.com/datacommonsorg/website/pull/6624",
    ),
    fix="""
Raise failureThreshold to 3 or more, so that the pod is slow to leave; a short period still lets it come back fast.
""",
    example="""
 apiVersion: v1
 kind: List
 items:
   - apiVersion: v1
     kind: Service
     metadata: {name: web}
     spec:
       selector: {app: web}
       ports: [{port: 80, targetPort: 8080}]
   - apiVersion: apps/v1
     kind: Deployment
     metadata: {name: web}
     spec:
       replicas: 3
       selector: {matchLabels: {app: web}}
       template:
         metadata: {labels: {app: web}}
         spec:
           containers:
             - name: web
               image: registry.example/web:1
               readinessProbe:
                 httpGet: {path: /readyz, port: 8080}
-                failureThreshold: 1
+                periodSeconds: 5
+                failureThreshold: 4
""",
    scenario="gc-pause",
    check=on_probes(check, "readiness"),
)
