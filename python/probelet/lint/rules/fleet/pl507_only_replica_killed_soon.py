"""PL507: liveness of the only replica is quick to kill it."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.facts.replicas import replicas
from probelet.lint.finding import Hit
from probelet.lint.model.neighbour import Service
from probelet.lint.model.workload import LintProbe, LintWorkload
from probelet.lint.rule import Rule, on_probes

PATIENT: Final = 30
"""Seconds of failures that the only replica should survive."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the shortest time until the kill with ``PATIENT``."""
    workload, kill = probe.container.workload, probe.bounds.to_kill
    if workload.kind not in ("Deployment", "StatefulSet") or replicas(workload) != 1 or not workload.services:
        return
    if kill is None or kill.earliest >= PATIENT or not _has_no_other(workload):
        return
    service = next((each for each in workload.services if not _is_shared(workload, each)), None)
    if service is None:
        return
    grace = probe.spec.termination_grace_period_seconds or workload.pod.spec.termination_grace_period_seconds
    yield probe.hit(
        "",
        f"nothing takes over from the only replica: {max(kill.earliest, 1)} s of failures may end in its kill, and "
        f"then Service {service.metadata.name} has no pod for up to {grace} s of its end and for "
        "the whole start",
        said_by=("PL205", "PL307"),
    )


def _is_shared(workload: LintWorkload, service: Service) -> bool:
    """True if the Service also selects the pods of another workload, as that of a gossip does."""
    others = (each for each in workload.scope.workloads if each is not workload)
    return any(found is service for each in others for found in each.services)


def _has_no_other(workload: LintWorkload) -> bool:
    """True if a roll-out never has two pods, so that one pod is what the author wants and not what is left."""
    strategy = getattr(workload.object.spec, "strategy", None)
    return isinstance(strategy, dict) and strategy.get("type") == "Recreate"


RULE = Rule(
    id="PL507",
    name="only-replica-killed-soon",
    severity="info",
    summary="The only replica of a Service, with the strategy Recreate, is killed within half a minute of failures.",
    why="""
With several replicas a false alarm of liveness costs a part of the capacity. With one it is an outage: the Service has
no pod from the kill until the new container is ready. A database that recovers after an unclean stop, or a server that
loads its data, may need longer for that than the disturbance would have lasted. The strategy `Recreate` says that two
pods at once are not possible here, so patience is the only remedy.
""",
    formula="(F - 1) x p < 30 s",
    source=(
        "https://github.com/Systemorph/MeshWeaver/issues/592",
        "Breck, Liveness: set conservative timeouts",
    ),
    fix="""
Raise failureThreshold until the seconds are worth an outage.
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
       strategy: {type: Recreate}
       selector: {matchLabels: {app: web}}
       template:
         metadata: {labels: {app: web}}
         spec:
           containers:
             - name: web
               image: registry.example/web:1
               livenessProbe:
                 httpGet: {path: /livez, port: 8080}
+                failureThreshold: 12
""",
    check=on_probes(check, "liveness"),
)
