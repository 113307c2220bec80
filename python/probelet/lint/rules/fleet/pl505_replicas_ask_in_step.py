"""PL505: all replicas start at once and ask one dependency in step."""

from collections.abc import Iterator

from probelet.lint.facts.dependency import dependency
from probelet.lint.facts.replicas import all_of_them, replicas
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe, LintWorkload
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for workloads whose pods all begin together, and whose probes ask something shared."""
    workload = probe.container.workload
    together = _together(workload)
    asked = dependency(probe)
    if asked is None or asked.kind != "host" or together is None or replicas(workload) < 2:
        return
    count, period = replicas(workload), probe.timing.period
    yield probe.hit(
        "periodSeconds" if probe.is_written("periodSeconds") else asked.field,
        f"{together}, so the attempts of {all_of_them(workload)} fall together: {asked.what} gets {count} of them at "
        f"once every {period} s, and not one every {period / count:.1f} s",
    )


def _together(workload: LintWorkload) -> str | None:
    """Why all pods start together; None if nothing says so."""
    spec = workload.object.spec
    if workload.kind == "StatefulSet" and spec.pod_management_policy == "Parallel":
        return "podManagementPolicy Parallel starts all pods at once"
    if workload.kind != "Deployment" or not isinstance(spec.strategy, dict):
        return None
    if spec.strategy.get("type") == "Recreate":
        return "the strategy Recreate starts all pods at once"
    rolling = spec.strategy.get("rollingUpdate")
    if isinstance(rolling, dict) and rolling.get("maxSurge") == "100%":
        return "maxSurge 100% starts all new pods at once"
    return None


RULE = Rule(
    id="PL505",
    name="replicas-ask-in-step",
    severity="info",
    summary="All replicas start at once, so their probes ask a shared dependency at the same moments.",
    why="""
A worker of a probe has its ticks from the moment on at which its pod came to the node. The kubelet spreads them only
after its own restart. Pods that start together therefore ask together, for as long as they live: a database sees no
even load, but a burst of the size of the workload once in every period. Whether the burst matters depends on the
dependency; one that is slow for the burst makes every replica fail at the same moment.
""",
    formula="replicas attempts at once in each p",
    source=(
        "kubernetes/pkg/kubelet/prober/worker.go: run, jitter after the kubelet's start, 1.36",
        "Breck, Readiness: correlated failures",
    ),
    fix="""
Do not ask the dependency in the probe (PL101), or start the pods one after the other.
""",
    example="""
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
   replicas: 3
   strategy: {type: Recreate}
   selector: {matchLabels: {app: web}}
   template:
     metadata: {labels: {app: web}}
     spec:
       containers:
         - name: web
           image: registry.example/web:1
           readinessProbe:
-            exec:
-              command: [pg_isready, -h, orders-db]
+            httpGet: {path: /readyz, port: 8080}
""",
    check=on_probes(check, "liveness", "readiness"),
    confidence="heuristic",
)
