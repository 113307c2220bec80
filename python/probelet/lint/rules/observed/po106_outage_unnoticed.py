"""PO106: a probe that asks a dependency did not notice when the dependency was away."""

from collections.abc import Iterator

from probelet.base.words import seconds
from probelet.lint.facts.asked import asked_workloads
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe, LintWorkload
from probelet.lint.observed.container import ObservedContainer, ObservedProbe, Run
from probelet.lint.observed.outage import Outage
from probelet.lint.rule import Rule, on_probes
from probelet.lint.settings import Settings


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the outages of the Services that a probe asks with its own."""
    unready, rows = probe.bounds.to_unready, probe.container.observed
    if unready is None or not rows:
        return
    for name, behind in asked_workloads(probe):
        for begin, end in _without_endpoint(behind):
            if end - begin > unready.latest and all(_stayed_ready(row, begin, end) for row in rows):
                yield probe.hit(
                    "",
                    f"the Service {name} had no ready pod for {seconds(end - begin)}, which is longer than the "
                    f"{unready.latest} s within which this probe notices, and no replica became unready: the probe "
                    f"does not find what it asks for",
                )
                return


def _without_endpoint(workload: LintWorkload) -> Iterator[tuple[float, float]]:
    """The times in which every replica of a workload with one container that has readiness was unready."""
    rows = [row for each in workload.probed for row in each.observed if "readiness" in row.probes]
    if not rows:
        return
    first, *others = [row.probes["readiness"].outages for row in rows]
    for outage in first:
        begin, end = outage.begin, outage.end
        for other in others:
            found = next((each for each in other if _overlap(each, begin, end)), None)
            if found is None:
                break
            begin = max(begin, found.begin)
            end = min((each for each in (end, found.end) if each is not None), default=None)
        else:
            # An outage without an end has no length.
            if end is not None:
                yield begin, end


def _overlap(outage: Outage, begin: float, end: float | None) -> bool:
    return (end is None or outage.begin < end) and (outage.end is None or begin < outage.end)


def _stayed_ready(row: ObservedContainer, begin: float, end: float) -> bool:
    """True for a replica that ran all that time and had no outage in it."""
    ran = any(run.begin <= begin and (run.end is None or run.end >= end) for run in row.lives)
    probe = row.probes.get("readiness")
    return ran and probe is not None and not any(_overlap(each, begin, end) for each in probe.outages)


_RUNNING = (Run(0, None, killed=False),)
_AWAY = ObservedProbe(runs=360, failures=30, outages=(Outage(1000, 1300, "refused"),))

RULE = Rule(
    id="PO106",
    name="outage-unnoticed",
    severity="info",
    summary="A readiness probe that asks a dependency stayed ready while the dependency was away.",
    why="""
A probe that asks a dependency has one purpose: to take the pod out of service while the dependency is away. Here the
dependency was away for longer than the probe needs to notice, and the probe went on succeeding: its command hides the
failure, or another server answers under the name. Such a probe has the price of asking a dependency, and no use.

The rule knows outages of Services whose pods are in the same recordings, and only asks probes whose command or `host`
names such a Service. For a probe that asks no dependency, staying ready is right.
""",
    formula="no endpoint for longer than F x max(p, T) + T, and no replica unready",
    source=("Breck, Readiness: the server with dependencies",),
    fix="Take the dependency out of the probe, or make its failure the failure of the command.",
    settings=Settings(
        observed=(
            ObservedContainer("default", "web-x", "web", {"readiness": ObservedProbe(runs=360)}, lives=_RUNNING),
            ObservedContainer("default", "stock-x", "stock", {"readiness": _AWAY}, lives=_RUNNING),
        )
    ),
    example="""
 apiVersion: v1
 kind: List
 items:
   - apiVersion: v1
     kind: Service
     metadata: {name: stock}
     spec:
       selector: {app: stock}
       ports: [{port: 8080}]
   - apiVersion: apps/v1
     kind: Deployment
     metadata: {name: stock}
     spec:
       selector: {matchLabels: {app: stock}}
       template:
         metadata: {labels: {app: stock}}
         spec:
           containers:
             - name: stock
               image: registry.example/stock:1
               readinessProbe:
                 httpGet: {path: /readyz, port: 8080}
   - apiVersion: apps/v1
     kind: Deployment
     metadata: {name: web}
     spec:
       selector: {matchLabels: {app: web}}
       template:
         metadata: {labels: {app: web}}
         spec:
           containers:
             - name: web
               image: registry.example/web:1
               readinessProbe:
                 exec:
-                  command: [sh, -c, "curl -s -m 2 http://stock:8080/readyz; test -f /tmp/up"]
+                  command: [test, -f, /tmp/up]
                 timeoutSeconds: 3
""",
    check=on_probes(check, "readiness"),
)
