"""PL407: the probe asks another host than its pod."""

from collections.abc import Iterator
from ipaddress import ip_address

from probelet.lint.change import Fix, Remove
from probelet.lint.command.host import is_loopback
from probelet.lint.facts.asked import where
from probelet.lint.facts.consequence import of_failing
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes
from probelet.spec.model.probe_options import options_of


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks at the field ``host``."""
    host, number = probe.host, probe.port_number or probe.port
    is_local = is_loopback(host)
    shares_network = probe.container.workload.pod.spec.host_network
    if options_of(probe.spec).network == "pod" and not shares_network:
        # Made from inside the pod, the probe reaches nothing else; PL421 looks at its host.
        return
    if not host or (shares_network and (is_local or where(probe.container, host) == "node")):
        return
    field, period = f"{probe.handler}.host", probe.timing.period
    if is_local and any(entry.host_port and entry.host_port == number for entry in probe.container.spec.ports):
        yield probe.hit(
            field,
            f"{host} is the node: the probe gets to the pod only through hostPort {number}, every {period} s",
            severity="warning",
        )
    elif is_local:
        yield probe.hit(
            field,
            f"the kubelet connects from the node, where {host} is the node itself: every {period} s the probe asks "
            f"whatever listens on port {number} of the node, and if nothing does, {of_failing(probe)}",
            severity="error",
            fix=Fix("remove host: the pod's address is the default", (Remove(f"{probe.path}.{field}"),)),
        )
    elif _is_link_local(host):
        yield probe.hit(
            field,
            f"{host} is an address of the node's own network, where clouds have their metadata service: every "
            f"{period} s the kubelet asks it with the node's rights, and the pod is never asked",
            severity="error",
        )
    else:
        yield probe.hit(
            field,
            f"every {period} s the kubelet asks {host} instead of the pod: all pods with this probe get the same "
            "answer, whatever their own state is",
            said_by=("PL201", "PL101", "PL104"),
        )


def _is_link_local(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_link_local
    except ValueError:
        return False


RULE = Rule(
    id="PL407",
    name="host-instead-of-pod",
    severity="warning",
    summary="The field host makes the probe ask something else than its pod.",
    why="""
The kubelet runs HTTP and TCP probes from the node, and connects to the pod's address. `host` replaces this address.
`localhost` is the mistake that people make most: it works in a shell inside the container, but for the kubelet it is
the node. Any other host answers for all replicas at once, so the probe says nothing about its own pod.

It is a way into the node's network as well: everybody who may create pods makes every node send requests to addresses
that pods cannot reach. The Pod Security level *baseline* refuses the field since its policy 1.34. Static pods with
`hostNetwork` that ask `localhost`, or the address of their node, are no finding: it is the pod's own address. Neither
are probes with probelet's option `network: pod`, which are made from inside their pod.
""",
    source=(
        "KEP-4940",
        "https://kubernetes.io/docs/concepts/security/pod-security-standards/",
        "kubernetes/pkg/probe/http/request.go: NewRequestForHTTPGetAction, 1.36",
    ),
    fix="""
Remove `host`. For a virtual host, send the header `Host` in httpHeaders. A server that listens on `localhost` alone can
be probed with probelet's option [`network: pod`](../probes.md#network-from-inside-the-pod).
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
-        httpGet: {host: localhost, path: /livez, port: 8080}
+        httpGet: {path: /livez, port: 8080}
""",
    check=on_probes(check),
)
