"""PL104: one dependency decides about every endpoint of a Service."""

from collections.abc import Iterator

from probelet.lint.facts.dependency import dependency
from probelet.lint.facts.replicas import replicas
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe, LintWorkload
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Finds a Service whose pods all come from this template and all ask the same dependency."""
    workload, found, unready = probe.container.workload, dependency(probe), probe.bounds.to_unready
    if found is None or found.kind in ("own service", "whole") or unready is None or replicas(workload) < 2:
        return
    for service in workload.services:
        if not service.spec.publish_not_ready_addresses and not _has_other_pods(workload, service.metadata.name):
            yield probe.hit(
                "",
                f"{found.what} is a single point of failure of the Service {service.metadata.name}: when it stops "
                f"answering, all {replicas(workload)} replicas leave the Service, the first one after "
                f"{unready.earliest} s at the earliest, the last one after {unready.latest} s at the latest",
                confidence=found.confidence,
            )


def _has_other_pods(workload: LintWorkload, service: str) -> bool:
    """True if another workload has pods behind the Service."""
    return any(
        other is not workload and any(each.metadata.name == service for each in other.services)
        for other in workload.scope.workloads
    )


RULE = Rule(
    id="PL104",
    name="readiness-single-point",
    severity="warning",
    summary="All endpoints of a Service depend on one thing that the readiness probe asks.",
    why="""
Replicas exist so that one failure leaves the others. A readiness probe that asks a shared dependency takes this away:
the replicas fail together, and a Service without endpoints refuses every connection. It is worse than no probe, because
pods that are up and could at least answer from a cache, or with a page that says sorry, get no requests.

That the probe fails while the dependency is away is what the rule assumes, because the command or the host says so; the
seconds follow from it. A headless Service with `publishNotReadyAddresses`, as databases and brokers have, is exempt.
""",
    formula="all replicas within (F - 1) x p to F x max(p, T) + T after the dependency's failure",
    source=(
        "Breck, Readiness: we have created a single point of failure",
        "https://github.com/yetone/cumora/pull/276",
        "https://github.com/redpanda-data/helm-charts/issues/1002",
    ),
    fix="Take the dependency out of the readiness probe; an alert is the place for it.",
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
               env: [{name: REDIS_HOST, value: session-store}]
               readinessProbe:
-                exec:
-                  command: [sh, -c, "redis-cli -h $REDIS_HOST ping | grep -q PONG"]
+                httpGet: {path: /readyz, port: 8080}
                 timeoutSeconds: 5
""",
    scenario="dependency-down",
    check=on_probes(check, "readiness"),
)
