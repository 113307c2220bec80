"""PL506: a disruption budget that liveness does not ask."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.facts.dependency import dependency
from probelet.lint.facts.question import question
from probelet.lint.facts.replicas import replicas
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer, LintProbe
from probelet.lint.rule import Rule, on_containers

COVERS: Final = ("PL202", "PL203")
"""The rules about liveness that asks what readiness asks."""


def check(container: LintContainer) -> Iterator[Hit]:
    """Looks for budgets beside a liveness probe that can fail in all replicas at once."""
    probe, workload = container.liveness, container.workload
    budgets = [each for each in workload.disruption_budgets if each.kind == "PodDisruptionBudget"]
    if probe is None or not budgets or replicas(workload) < 2 or probe.bounds.to_kill is None:
        return
    readiness, said_by = container.readiness, tuple[str, ...]()
    if (asked := dependency(probe)) is not None:
        reason = f"it asks {asked.what}"
    elif readiness is not None and question(readiness) == question(probe) and _is_as_quick(probe, readiness):
        reason, said_by = "it asks what readiness asks, so load that makes the replicas unready kills them", COVERS
    else:
        return
    kill = probe.bounds.to_kill
    yield probe.hit(
        "",
        f"PodDisruptionBudget {budgets[0].metadata.name} does not hold liveness back: {reason}, and then all "
        f"{replicas(workload)} replicas are killed within {kill.earliest} to {kill.latest} s",
        said_by=said_by,
    )


def _is_as_quick(liveness: LintProbe, readiness: LintProbe) -> bool:
    """True if liveness gives a container no time to recover without requests."""
    kill, unready = liveness.bounds.to_kill, readiness.bounds.to_unready
    return kill is not None and unready is not None and kill.latest <= unready.latest


RULE = Rule(
    id="PL506",
    name="budget-does-not-hold-liveness",
    severity="info",
    summary="A PodDisruptionBudget protects the pods from evictions, and not from their liveness probe.",
    why="""
A PodDisruptionBudget says how many pods have to be available, and evictions ask it: drains, autoscalers of nodes.
Liveness asks nobody. Each kubelet decides about its own pods alone, so when all replicas fail for one reason, all of
them are killed within one span of seconds, whatever the budget says. The request to change this is open since 2018.

The finding is for workloads that have a budget, so their authors care, and whose liveness can fail for a reason that
the replicas share.
""",
    formula="killed (F - 1) x p to F x max(p, T) + T after the shared failure",
    source=(
        "https://github.com/kubernetes/kubernetes/issues/66230",
        "https://github.com/openkruise/kruise/issues/641",
    ),
    fix="""
Let liveness ask only what a restart mends, with several times the patience of readiness.
""",
    example="""
 apiVersion: v1
 kind: List
 items:
   - apiVersion: policy/v1
     kind: PodDisruptionBudget
     metadata: {name: web}
     spec:
       minAvailable: 2
       selector: {matchLabels: {app: web}}
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
               livenessProbe:
-                httpGet: {path: /health/database, port: 8080}
+                httpGet: {path: /livez, port: 8080}
                 failureThreshold: 6
""",
    check=on_containers(check),
)
