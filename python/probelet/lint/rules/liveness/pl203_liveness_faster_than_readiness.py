"""PL203: the liveness probe kills before the readiness probe takes the pod out of service."""

from collections.abc import Iterator

from probelet.lint.command.client import grpc_call, http_call
from probelet.lint.facts.asked import where
from probelet.lint.facts.clients import has_clients
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer, LintProbe
from probelet.lint.rule import Rule, on_containers


def check(container: LintContainer) -> Iterator[Hit]:
    """Compares the latest kill with the earliest unreadiness."""
    liveness, readiness = container.liveness, container.readiness
    if liveness is None or readiness is None:
        return
    kill, unready = liveness.bounds.to_kill, readiness.bounds.to_unready
    if kill is None or unready is None or kill.latest > unready.earliest:
        return
    live, ready = liveness.timing, readiness.timing
    is_sure = _is_answered_by_server(liveness)
    fails = "hangs" if is_sure else "fails both probes"
    counts = "gets requests" if container.workload.services else "counts as ready"
    yield liveness.hit(
        "",
        f"a container that {fails} is killed after at most {kill.latest} s ({live.failures} x max({live.period} s, "
        f"{live.timeout} s) + {live.timeout} s), while readiness needs at least {unready.earliest} s "
        f"(failureThreshold {ready.failures}, period {ready.period} s) to take it out of service: it {counts} until "
        "the kill, and readiness never protects a client",
        severity="error" if is_sure and has_clients(container.workload) else "warning",
    )


def _is_answered_by_server(probe: LintProbe) -> bool:
    """True if a server that hangs fails the probe for sure. Its kernel still takes connections, and a command that is
    no client of the server may look at anything."""
    if probe.handler == "exec":
        call = http_call(probe.argv) or grpc_call(probe.argv)
        return call is not None and where(probe.container, call.host) == "container"
    return probe.handler in ("httpGet", "grpc")


RULE = Rule(
    id="PL203",
    name="liveness-faster-than-readiness",
    severity="error",
    summary="The container is killed before the readiness probe takes it out of service.",
    why="""
Readiness is the gentle answer to a container that hangs: it gets no new requests and may recover. Liveness is the hard
one. Where the kill certainly comes first, the gentle answer never happens: the container gets requests until it is
killed, every request in flight is lost, and the other replicas get its load together with the work of its new start.

With a tcpSocket liveness probe, or a command that is no plain client of the server, this is a warning: the kernel
accepts connections for a server that hangs, and a command may look at something else, so the kill is not certain. It is
a warning, too, for pods that none of the Services in sight selects, and for those of a Job or an agent on each node: no
client waits for their readiness. A Deployment or StatefulSet alone in its files may have its Service elsewhere, and
counts as one with clients.

Both spans count from the moment on which every attempt fails. `probelet explain` prints them, and the simulator proves
them.
""",
    formula="F x max(p, T) + T of liveness <= (F - 1) x p of readiness; (F - 2) x p, if its T is longer than p",
    source=(
        "Breck, Liveness: set them conservatively, so that they do not fail excessively",
        "https://github.com/sentry-kubernetes/charts/issues/307",
        "https://github.com/zegl/kube-score/issues/285",
    ),
    fix="""
Give liveness a budget of at least twice that of readiness: a larger failureThreshold keeps the probe's period.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       livenessProbe:
         httpGet: {path: /livez, port: 8080}
-        periodSeconds: 5
-        failureThreshold: 3
+        periodSeconds: 10
+        failureThreshold: 6
       readinessProbe:
         httpGet: {path: /readyz, port: 8080}
         periodSeconds: 10
         failureThreshold: 3
""",
    scenario="gc-pause",
    check=on_containers(check),
)
