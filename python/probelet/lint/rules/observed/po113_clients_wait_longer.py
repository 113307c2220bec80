"""PO113: clients wait many times longer than the probes do."""

from collections.abc import Iterator
from typing import Final

from probelet.base.words import seconds
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintWorkload
from probelet.lint.observed.container import ObservedClients, ObservedContainer, ObservedProbe
from probelet.lint.rule import Rule, on_workloads
from probelet.lint.settings import Settings

TIMES: Final = 10
"""Buckets of histograms are coarse: less than this may be their bounds."""
SLOWEST: Final = 1.0
"""Seconds that clients may wait without a finding."""
REQUESTS_MIN: Final = 100


def check(workload: LintWorkload) -> Iterator[Hit]:
    """Compares the slow requests of clients with the slow attempts of the probes."""
    clients = [each.slow for each in workload.clients if each.requests >= REQUESTS_MIN]
    probes = [probe for container in workload.probed for probe in container.probes.values()]
    seen = [(row.slow, probe) for probe in probes for row in probe.observed if row.slow is not None]
    if not clients or not seen:
        return
    waited, (slow, probe) = max(clients), max(seen, key=lambda each: each[0])
    if waited >= SLOWEST and waited >= TIMES * slow:
        yield probe.hit(
            "",
            f"99 of 100 requests of clients take up to {seconds(waited)}, and 99 of 100 attempts of the slowest probe "
            f"up to {seconds(slow)}: the probe does not go the way of a request, so it stays well while clients wait",
        )


RULE = Rule(
    id="PO113",
    name="clients-wait-longer",
    severity="info",
    summary="Requests of clients take ten times as long as the slowest probe.",
    why="""
A probe that answers from another thread, another port or a constant stays fast whatever happens to the requests. Then a
server whose workers are all stuck is ready and alive, and only its clients know better. PL206 suspects this from the
ports in a manifest; here the latencies show it.

A probe need not be as slow as a request. But one that never becomes slow together with the requests cannot tell when
the server is overloaded, and a liveness probe of that kind finds no deadlock of the workers.
""",
    formula="p99 of clients >= 10 x p99 of the slowest probe, and >= 1 s",
    source=(
        "Breck, Liveness: the probe may not actually verify the responsiveness of the service",
        "docs/lint/PL206.md",
    ),
    fix="Let the probe pass the queue of the requests: same port, same workers, a cheap answer.",
    settings=Settings(
        observed=(
            ObservedContainer(
                "default", "web-5d4f-x", "web", {"liveness": ObservedProbe(runs=900, slow=0.05, attempts=900)}
            ),
            ObservedClients("default", "web", "", slow=5, requests=12_000),
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
-          livenessProbe:
-            httpGet: {path: /livez, port: 8080}
-            failureThreshold: 6
+          readinessProbe:
+            httpGet: {path: /readyz, port: 8080}
""",
    check=on_workloads(check),
)
