"""PL408: the probe has a host to connect to and another one in its header."""

from collections.abc import Iterator

from probelet.lint.command.host import is_loopback
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for ``host`` beside a header ``Host``."""
    get = probe.spec.http_get
    if get is None or not probe.host or is_loopback(probe.host):
        return
    header = next((entry.value for entry in get.http_headers if entry.name.lower() == "host"), None)
    if header is not None:
        yield probe.hit(
            "httpGet.host",
            f"the probe connects to {probe.host} and asks for the virtual host {header}: for a virtual host of the pod "
            "the header alone is enough, and host takes the request away from the pod",
        )


RULE = Rule(
    id="PL408",
    name="two-hosts",
    severity="warning",
    summary="The probe has both host and a header Host; the header alone selects a virtual host.",
    why="""
Two fields are called host. `httpGet.host` is the address that the kubelet connects to, and it replaces the pod's. The
header `Host` in `httpHeaders` is the name that the server reads to choose a virtual host, and it leaves the connection
alone. A manifest with both was mostly meant to have the header only: now the request goes through name resolution and
a load balancer to any replica, or to none.
""",
    source=(
        "kubernetes/pkg/probe/http/request.go: NewProbeRequest, 1.36",
        "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Probe",
    ),
    fix="""
Remove `httpGet.host`, and leave the header.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       readinessProbe:
         httpGet:
-          host: shop.example.com
           path: /readyz
           port: 8080
           httpHeaders: [{name: Host, value: shop.example.com}]
""",
    check=on_probes(check),
)
