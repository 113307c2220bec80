"""PL202: liveness and readiness ask the same question."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.command.why_it_succeeds import why_it_succeeds
from probelet.lint.facts.clients import has_clients
from probelet.lint.facts.question import question
from probelet.lint.facts.replicas import replicas
from probelet.lint.finding import Hit, Severity
from probelet.lint.model.neighbour import Service
from probelet.lint.model.workload import LintContainer
from probelet.lint.rule import Rule, on_containers

PATIENT: Final = 120
"""Seconds of failures. No overload of a moment lasts so long."""


def check(container: LintContainer) -> Iterator[Hit]:
    """Compares the handlers, and then the times that both need."""
    liveness, readiness = container.liveness, container.readiness
    if liveness is None or readiness is None or question(liveness) != question(readiness):
        return
    if why_it_succeeds(liveness.argv) is not None:
        # Neither of them takes anything out of service, which PL518 says.
        return
    kill, unready, severity = liveness.bounds.to_kill, readiness.bounds.to_unready, _severity(container)
    if kill is None or unready is None or kill.latest > unready.latest:
        # Liveness is the slower one, as it should be where there is one endpoint.
        return
    if not has_clients(container.workload):
        # Nobody sends requests by its readiness.
        return
    if severity == "error":
        meaning = (
            f"whatever takes one of the {replicas(container.workload)} replicas out of service also kills it, and the "
            "others get its load"
        )
    else:
        meaning = "whatever takes it out of service also kills it, and readiness protects nothing"
    yield liveness.hit(
        "",
        f"liveness asks the same as readiness: a container that stops answering is unready after {unready.earliest} "
        f"to {unready.latest} s, and killed after {kill.earliest} to {kill.latest} s: {meaning}",
        severity=severity,
        said_by=("PL203",),
    )


def _severity(container: LintContainer) -> Severity:
    workload, kill = container.workload, container.liveness.bounds.to_kill if container.liveness is not None else None
    if kill is not None and kill.earliest >= PATIENT:
        return "warning"
    if container.liveness is not None and container.liveness.handler not in ("httpGet", "grpc"):
        # A busy server passes a TCP probe, and nobody knows what a command asks of it.
        return "warning"
    return "error" if replicas(workload) >= 2 and any(map(_balances, workload.services)) else "warning"


def _balances(service: Service) -> bool:
    """True if the load of a pod that is not ready goes to the other pods. Clients of a headless Service choose their
    pods themselves, and one with ``publishNotReadyAddresses`` goes on sending requests."""
    return service.spec.cluster_ip != "None" and not service.spec.publish_not_ready_addresses


RULE = Rule(
    id="PL202",
    name="liveness-equals-readiness",
    severity="warning",
    summary="Liveness and readiness ask the same question, and liveness is not the slower one.",
    why="""
The two probes have different consequences, so they should ask different things. Readiness: should this pod get requests
now? Liveness: is this container so stuck that only a restart helps? A server that is overloaded is unready, but it is
not stuck: without new requests it recovers.

If both ask the same and liveness is not slower, overload kills. The restart takes the container's caches and its share
of the load goes to the other replicas, which are the next. With two replicas or more behind a Service this is a chain
reaction, and an error for httpGet and grpc, which a busy server fails, unless liveness waits two minutes. Behind a
headless Service, whose clients choose their pods, it is a warning. Liveness that is slower is no finding: it gives the
container time to recover without new requests.
""",
    formula="latest kill <= latest unreadiness, each F x max(p, T) + T",
    source=(
        "Breck, Liveness: a further cascade of liveness probe failures",
        "https://github.com/dhyansraj/mcp-mesh/issues/1467",
        "https://github.com/Systemorph/MeshWeaver/issues/3330",
        "https://github.com/kubernetes/ingress-nginx/issues/5671",
    ),
    fix="""
Let liveness ask less: an endpoint that needs no free worker, no database, only the loop that must not stop. If there is
only one endpoint, give liveness at least twice the time of readiness with a higher failureThreshold.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       ports: [{name: http, containerPort: 8080}]
       livenessProbe:
-        httpGet: {path: /health, port: http}
+        httpGet: {path: /livez, port: http}
       readinessProbe:
         httpGet: {path: /health, port: 8080}
""",
    check=on_containers(check),
)
