"""PL405: the probe names a port that its container does not have."""

from collections.abc import Iterator

from probelet.lint.facts.consequence import of_errors
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for the port in the probe's own container."""
    name = probe.port
    if not isinstance(name, str) or probe.port_number is not None:
        return
    containers = probe.container.workload.containers
    other = next((each for each in containers if any(entry.name == name for entry in each.spec.ports)), None)
    where = f"; container {other.name} has it, but only the probe's own container counts" if other is not None else ""
    yield probe.hit(
        f"{probe.handler}.port",
        f"no port of the container has the name {name}{where}: every attempt, each {probe.timing.period} s, ends in an "
        f"error that counts for nothing, and {of_errors(probe)}",
    )


RULE = Rule(
    id="PL405",
    name="port-name-not-found",
    severity="error",
    summary="The probe names a port that no entry of its container's ports has.",
    why="""
The kubelet finds the number of a named port in `ports` of the probe's own container, for each attempt anew. Without
such an entry the attempt ends before a connection, in an error that is neither a success nor a failure. The API server
accepts the pod all the same.

What follows depends on the probe: a container with such a readiness or startup probe is never ready, and nothing kills
it, so a roll-out waits until somebody looks. Such a liveness probe does nothing at all, without a trace in the status.
""",
    source=(
        "kubernetes/pkg/probe/util.go: ResolveContainerPort, findPortByName, 1.36",
        "kubernetes/pkg/kubelet/prober/worker.go: doProbe, throw away the result, 1.36",
    ),
    fix="""
Give the port its name in `ports` of this container, or write the number.
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
       readinessProbe:
-        httpGet: {path: /readyz, port: web}
+        httpGet: {path: /readyz, port: http}
""",
    check=on_probes(check),
)
