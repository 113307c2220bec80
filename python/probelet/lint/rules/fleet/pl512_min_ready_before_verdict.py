"""PL512: minReadySeconds is over before readiness can fail again."""

from collections.abc import Iterator

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintWorkload
from probelet.lint.rule import Rule, on_workloads


def check(workload: LintWorkload) -> Iterator[Hit]:
    """Compares minReadySeconds with the shortest time until readiness takes a pod out."""
    wanted = workload.number("min_ready_seconds", 0)
    found = [each.readiness for each in workload.probed if each.readiness is not None]
    # With several probes the quickest one decides, and which of them a bad release fails is open.
    if wanted <= 0 or len(found) != 1 or _is_recreated(workload):
        return
    timing, unready = found[0].timing, found[0].bounds.to_unready
    if unready is None or not timing.period <= wanted < unready.earliest:
        # Less than a period is no time in which readiness could look again.
        return
    yield workload.hit(
        "spec.minReadySeconds",
        f"minReadySeconds {wanted} ends before readiness can change its mind: a pod that fails again right after its "
        f"first success is unready after {unready.earliest} s at the earliest ({timing.failures} failures, period "
        f"{timing.period} s), so the roll-out counts it as available and continues",
    )


def _is_recreated(workload: LintWorkload) -> bool:
    """True if all old pods end before the new ones start: then no roll-out waits for a pod and goes on."""
    strategy = getattr(workload.object.spec, "strategy", None)
    return workload.kind == "Deployment" and isinstance(strategy, dict) and strategy.get("type") == "Recreate"


RULE = Rule(
    id="PL512",
    name="min-ready-before-verdict",
    severity="info",
    summary="A pod counts as available before its readiness probe could have taken it out of service again.",
    why="""
`minReadySeconds` stops a roll-out while new pods are only ready for a moment: a server that answers its first probes
and then falls over. But a ready pod stays ready until `failureThreshold` attempts have failed in a row. If that takes
longer than `minReadySeconds`, a server that fails with its first requests is still ready when the time is over, and the
roll-out goes on to the next pod. It still finds containers that end. Less than a period is no finding: it is not meant
to see another attempt.
""",
    formula="p <= minReadySeconds < (F - 1) x p",
    source=(
        "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#min-ready-seconds",
        "kubernetes/pkg/kubelet/prober/worker.go: doProbe, 1.36",
    ),
    fix="""
minReadySeconds above the latest of readiness' seconds: F x max(p, T) + T.
""",
    example="""
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
   replicas: 3
-  minReadySeconds: 10
+  minReadySeconds: 40
   selector: {matchLabels: {app: web}}
   template:
     metadata: {labels: {app: web}}
     spec:
       containers:
         - name: web
           image: registry.example/web:1
           readinessProbe:
             httpGet: {path: /readyz, port: 8080}
""",
    check=on_workloads(check),
)
