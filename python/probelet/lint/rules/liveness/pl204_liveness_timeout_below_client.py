"""PL204: a liveness probe waits less for an answer than the clients do."""

from collections.abc import Iterator

from probelet.lint.facts.client_timeout import client_timeout
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes
from probelet.lint.settings import Settings


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the timeout with that of the clients."""
    client, kill, timing = client_timeout(probe.container.workload), probe.bounds.to_kill, probe.timing
    if client is None or kill is None or timing.timeout >= client.seconds:
        return
    yield probe.hit(
        "timeoutSeconds",
        f"clients wait {client.seconds:g} s for an answer ({client.source}), liveness waits {timing.timeout} s: while "
        f"answers take longer than {timing.timeout} s, clients still get theirs, but the container is killed after "
        f"{kill.earliest} to {kill.latest} s",
        # The same magnitude is what the article asks for.
        severity=None if 2 * timing.timeout <= client.seconds else "info",
    )


RULE = Rule(
    id="PL204",
    name="liveness-timeout-below-client",
    severity="warning",
    summary="The liveness probe calls an answer too late that clients still wait for.",
    why="""
A busy server answers late. As long as clients wait, it does its work, and a restart would lose all requests that it is
serving. If the probe waits less than the clients do, the kubelet kills servers that work: first the busiest, whose load
goes to the others, then those.

The rule needs to know how long clients wait: from the annotations of an Ingress, the timeouts of an HTTPRoute or a
VirtualService, or the setting `client-timeout`. Without one of them, the default of one second is no finding. A timeout
above half of the clients' is the same magnitude, and information only. Timeouts above 300 s are for streams, and do not
count.
""",
    formula="T < the clients' timeout; killed after (F - 1) x p to F x max(p, T) + T",
    source=(
        "Breck, Liveness: consider setting liveness-probe timeouts the same magnitude as client timeouts",
        "https://github.com/Systemorph/MeshWeaver/pull/592",
    ),
    fix="Set timeoutSeconds to the time for which clients wait, and periodSeconds not below it.",
    settings=Settings(client_timeout=10),
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
+        timeoutSeconds: 10
""",
    scenario="overload",
    check=on_probes(check, "liveness"),
)
