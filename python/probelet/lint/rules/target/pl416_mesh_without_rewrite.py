"""PL416: a sidecar takes the probe's connection, and its rewriting of probes is off."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.facts.consequence import of_failing
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

_OWN: Final = frozenset({15020, 15021, 15090})
"""Ports of the sidecar itself."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks at Istio's annotations of the pod."""
    meta = probe.container.workload.pod.metadata
    named = {**meta.labels, **meta.annotations}
    number = probe.port_number
    if named.get("sidecar.istio.io/rewriteAppHTTPProbers") != "false" or number is None or number in _OWN:
        return
    if named.get("sidecar.istio.io/inject") == "false" or probe.container.name == "istio-proxy":
        return
    if str(number) in named.get("traffic.sidecar.istio.io/excludeInboundPorts", "").replace(" ", "").split(","):
        return
    if probe.handler == "tcpSocket":
        effect = "the sidecar accepts every connection, so the probe succeeds also while the container is dead"
    else:
        effect = f"where the mesh demands mTLS, the sidecar refuses the prober, and {of_failing(probe)}"
    yield probe.hit(
        f"{probe.handler}.port",
        f"the sidecar of Istio takes the connection to port {number}, and rewriteAppHTTPProbers is off: {effect}",
    )


RULE = Rule(
    id="PL416",
    name="mesh-without-rewrite",
    severity="warning",
    summary="Istio's sidecar takes the probe's connection, and the annotation turns its rewriting of probes off.",
    why="""
Istio's sidecar gets every connection to the pod, also the kubelet's. The prober has no certificate of the mesh, so with
mTLS in mode STRICT the sidecar refuses it. Istio therefore rewrites probes at injection: they ask the sidecar's agent,
which asks the container. The annotation `sidecar.istio.io/rewriteAppHTTPProbers: "false"` turns this off.

For a TCP probe it is worse: the sidecar accepts the connection itself, and the probe can never fail. The rule cannot
know whether the namespace has injection or mTLS; ports that are excluded from the sidecar are no finding.
""",
    source=(
        "https://github.com/istio/istio/issues/9150",
        "https://github.com/istio/istio/issues/23482",
        "https://istio.io/latest/docs/ops/configuration/mesh/app-health-check/",
    ),
    fix="""
Remove the annotation, or list the probe's port in `traffic.sidecar.istio.io/excludeInboundPorts`.
""",
    example="""
 apiVersion: v1
 kind: Pod
-metadata:
-  name: web
-  annotations: {sidecar.istio.io/rewriteAppHTTPProbers: "false"}
+metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       livenessProbe:
         tcpSocket: {port: 8080}
""",
    check=on_probes(check),
    confidence="heuristic",
)
