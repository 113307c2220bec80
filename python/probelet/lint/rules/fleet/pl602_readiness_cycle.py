"""PL602: workloads wait for each other's readiness."""

from collections.abc import Iterator
from typing import TypeAlias

from probelet.lint.command.shell import simple_command
from probelet.lint.facts.asked import asked_workloads
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe, LintWorkload
from probelet.lint.rule import Rule, on_workloads

Edge: TypeAlias = "tuple[LintProbe, str, LintWorkload]"
"""The readiness probe that asks, the Service, and the workload behind it."""


def check(workload: LintWorkload) -> Iterator[Hit]:
    """Looks for a way from a workload back to itself."""
    way = _way(workload, workload, set())
    if way is None:
        return
    probe = way[0][0]
    # A shell may do something else when the request fails.
    is_sure = all(each.handler != "exec" or simple_command(each.argv) is not None for each, _, _ in way)
    chain = ", which asks ".join(f"Service {name}" for _, name, _ in way)
    yield probe.hit(
        "exec.command" if probe.handler == "exec" else f"{probe.handler}.host",
        f"readiness of {workload.label} asks {chain}: the last one has an endpoint only once {workload.label} is "
        f"ready; when all of them start together, none is ever ready, however often they ask (every "
        f"{probe.timing.period} s)",
        severity="error" if is_sure else "warning",
    )


def _way(workload: LintWorkload, goal: LintWorkload, seen: set[int]) -> list[Edge] | None:
    """The edges to the goal; None if there is no way."""
    seen.add(id(workload))
    for edge in _edges(workload):
        if edge[2] is goal:
            return [edge]
        if id(edge[2]) not in seen and (rest := _way(edge[2], goal, seen)) is not None:
            return [edge, *rest]
    return None


def _edges(workload: LintWorkload) -> Iterator[Edge]:
    """Yields the workloads that the readiness probes of a workload ask, among the Services whose only pods are those of
    one workload."""
    for container in workload.probed:
        probe = container.readiness
        if probe is None:
            continue
        for name, behind in asked_workloads(probe):
            yield probe, name, behind


RULE = Rule(
    id="PL602",
    name="readiness-cycle",
    severity="warning",
    summary="Workloads wait for each other's readiness, so after a cold start none is ever ready.",
    why="""
A Service has only ready pods behind it. If readiness of *web* asks the Service *stock*, and readiness of *stock* asks
the Service *web*, each waits for the other one. While both are ready nobody notices. After an outage of the cluster, a
new environment or a roll-out of both, no pod is ever ready again, and nothing in the cluster mends this by itself.

The same holds for a probe that asks the Service in front of its own pods. The rule follows hosts that stand in commands
and in the field `host`. A Service with publishNotReadyAddresses is no part of a cycle.
""",
    source=("Breck, Readiness: dependencies of dependencies",),
    fix="""
Let readiness answer from the container's own state. Clients of a dependency that is away can wait or fail.
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
       ports: [{port: 8080}]
   - apiVersion: v1
     kind: Pod
     metadata: {name: web-0, labels: {app: web}}
     spec:
       containers:
         - name: web
           image: registry.example/web:1
           readinessProbe:
-            exec:
-              command: [curl, -f, 'http://stock:8080/readyz']
+            httpGet: {path: /readyz, port: 8080}
   - apiVersion: v1
     kind: Service
     metadata: {name: stock}
     spec:
       selector: {app: stock}
       ports: [{port: 8080}]
   - apiVersion: v1
     kind: Pod
     metadata: {name: stock-0, labels: {app: stock}}
     spec:
       containers:
         - name: stock
           image: registry.example/stock:1
           readinessProbe:
             exec:
               command: [curl, -f, 'http://web:8080/readyz']
""",
    check=on_workloads(check),
)
