"""Where PL204 finds how long clients wait, and how bad it is."""

from pathlib import Path

import pytest

from tests.unit.lint.linted import of_rule, only, report

WORKLOAD = """
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers:
    - name: web
      image: i
      livenessProbe: {httpGet: {port: 80}, timeoutSeconds: TIMEOUT}
---
"""

INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, annotations: {ANNOTATION}}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
"""

HTTP_ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec:
  rules:
    - backendRefs: [{name: other, port: 80}]
      timeouts: {request: 1s}
    - backendRefs: [{name: web, port: 80}]
      timeouts: {request: 10s, backendRequest: 8s}
"""

VIRTUAL_SERVICE = """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [web]
  http:
    - route: [{destination: {host: web.default.svc.cluster.local}}]
      timeout: 2.5s
"""


@pytest.mark.parametrize(
    ("route", "timeout", "wanted"),
    [
        (INGRESS.replace("ANNOTATION", 'nginx.ingress.kubernetes.io/proxy-read-timeout: "60"'), 30, "warning"),
        (INGRESS.replace("ANNOTATION", 'nginx.ingress.kubernetes.io/proxy-read-timeout: "60"'), 31, "info"),
        (INGRESS.replace("ANNOTATION", 'nginx.ingress.kubernetes.io/proxy-read-timeout: "60"'), 60, None),
        (INGRESS.replace("ANNOTATION", 'nginx.ingress.kubernetes.io/proxy-read-timeout: "3600"'), 1, None),
        (INGRESS.replace("ANNOTATION", 'nginx.ingress.kubernetes.io/proxy-read-timeout: "$t"'), 1, None),
        (INGRESS.replace("ANNOTATION", "haproxy.org/timeout-server: 50s"), 1, "warning"),
        (INGRESS.replace("ANNOTATION", ""), 1, None),
        (HTTP_ROUTE, 4, "warning"),
        (HTTP_ROUTE, 5, "info"),
        (HTTP_ROUTE, 8, None),
        (VIRTUAL_SERVICE, 1, "warning"),
        (VIRTUAL_SERVICE, 2, "info"),
        (VIRTUAL_SERVICE, 3, None),
        ("", 1, None),
    ],
)
def test_the_shortest_timeout_of_a_route_to_the_workload_counts(
    tmp_path: Path, route: str, timeout: int, wanted: str | None
) -> None:
    text = WORKLOAD.replace("TIMEOUT", str(timeout)) + route
    found = of_rule(report(tmp_path, text.lstrip(), only("PL204")).findings, "PL204")
    assert [finding.severity for finding in found] == ([] if wanted is None else [wanted])
