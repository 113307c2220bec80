"""PL206: liveness asks another port than the one that clients use."""

import re
from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer, LintProbe
from probelet.lint.rule import Rule, on_probes

_ASIDE: Final = re.compile(r"metrics|prom|monitor|webhook|admission|probe|health|debug|admin|telemetry|profil")
"""Names of ports that clients do not use for the work of the container."""

_HEALTH: Final = re.compile(r"health|live|ready|ping|alive|status", re.IGNORECASE)
"""Paths that are made for probes."""

_HEALTH_PORT: Final = re.compile(r"(?:^|-)(?:health|live|read[yi]|ping|alive|status|probe)")
"""Names of ports that are made for probes. ``metrics`` is none: its server knows nothing of the workers."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the probe's port with the ports that Services send requests to."""
    port = probe.port_number
    if port is None or probe.host or _is_of_health(probe):
        return
    served = _served(probe.container)
    if not served or port in served:
        return
    ports = " and ".join(str(each) for each in sorted(served))
    yield probe.hit(
        f"{probe.handler}.port",
        f"liveness asks port {port}, clients use port {ports} (Service "
        f"{probe.container.workload.services[0].metadata.name}): the server of port {port} may answer every "
        f"{probe.timing.period} s while the one that clients use hangs, and then nothing restarts the container",
    )


def _is_of_health(probe: LintProbe) -> bool:
    """True for a path or a port that is made for probes: what answers may well look at the other server."""
    names = [entry.name for entry in probe.container.spec.ports if entry.container_port == probe.port_number]
    if not names or any(_HEALTH_PORT.search(name) for name in names):
        # It is declared for nobody else, or for probes.
        return True
    return probe.handler == "grpc" or (
        probe.spec.http_get is not None and _HEALTH.search(probe.spec.http_get.path) is not None
    )


def _served(container: LintContainer) -> set[int]:
    """The ports of this container that Services send requests to for its work."""
    own = {entry.container_port: entry.name for entry in container.spec.ports}
    found: set[int] = set()
    for service in container.workload.services:
        for entry in service.spec.ports:
            numbers = [port for port, name in own.items() if entry.target in (port, name)]
            for number in numbers:
                if not _ASIDE.search(f"{entry.name} {own[number]} {service.metadata.name}".lower()):
                    found.add(number)
    return found


RULE = Rule(
    id="PL206",
    name="liveness-other-port",
    severity="info",
    summary="The liveness probe asks another server in the container than the one that clients use.",
    why="""
Many programs have two servers: one for their clients, and a small one for metrics and health. The small one has its own
threads. It answers at once while every worker of the other one is stuck in a deadlock, so the liveness probe sees
nothing of what it is there for.

This is information, and no finding for a path such as `/healthz`, for gRPC, for a port that is named for it (`health`,
`probes`, `status`), or for one that `ports` lacks: a health endpoint may well look at the workers of the other server.
`/` or `/metrics` of a port for metrics, and a TCP connection to it, do not.
Ports whose names speak of metrics, profiles, webhooks or administration do not count as ports of clients.
""",
    source=("Breck, Liveness: the probe must exercise the service in a similar manner to dependent services",),
    fix="""
Let the probe ask a cheap path on the port of the clients, or make sure that the health endpoint fails when the workers
make no progress.
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
       ports: [{port: 80, targetPort: http}]
   - apiVersion: v1
     kind: Pod
     metadata: {name: web, labels: {app: web}}
     spec:
       containers:
         - name: web
           image: registry.example/web:1
           ports:
             - {name: http, containerPort: 8080}
             - {name: metrics, containerPort: 9090}
           livenessProbe:
-            httpGet: {path: /metrics, port: metrics}
+            httpGet: {path: /livez, port: http}
""",
    check=on_probes(check, "liveness"),
    confidence="heuristic",
)
