"""PL406: the probe connects with TCP to a port that is declared for another protocol."""

from collections.abc import Iterator

from probelet.lint.facts.consequence import of_failing
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks at the protocols of the probe's port."""
    number = probe.port_number
    protocols = {entry.protocol for entry in probe.container.spec.ports if entry.container_port == number}
    if number is None or not protocols or "TCP" in protocols:
        return
    yield probe.hit(
        f"{probe.handler}.port",
        f"port {number} is declared for {' and '.join(sorted(protocols))} only, and a {probe.handler} probe connects "
        f"with TCP: unless the server also listens there with TCP, {of_failing(probe)}",
    )


RULE = Rule(
    id="PL406",
    name="port-without-tcp",
    severity="warning",
    summary="The probe connects with TCP to a port that is declared for UDP or SCTP.",
    why="""
Every handler with a port uses TCP; there is no probe for UDP or SCTP. The kubelet does not read the protocol of the
entry whose name or number the probe has. It connects, the kernel refuses, and the attempt fails.

`ports` only documents what a container listens on, so a server may use TCP on the same number without an entry, as
servers of DNS do. Then the entry for TCP is what is missing.
""",
    source=(
        "https://github.com/kubernetes/kubernetes/issues/131183",
        "kubernetes/pkg/probe/util.go: findPortByName, 1.36",
    ),
    fix="""
Probe a port with TCP, such as one for health or metrics, or use a command that speaks the protocol.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
-      ports: [{name: dns, containerPort: 53, protocol: UDP}]
+      ports:
+        - {name: dns, containerPort: 53, protocol: UDP}
+        - {name: health, containerPort: 8080}
       livenessProbe:
-        tcpSocket: {port: dns}
+        httpGet: {path: /livez, port: health}
""",
    check=on_probes(check),
)
