"""PL409: a header or a query of the probe holds a secret."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

_NAME: Final = re.compile(r"(proxy-)?authorization|.*(api-?key|token|secret|passw(or)?d|credential).*", re.IGNORECASE)
_VALUE: Final = re.compile(r"(?i:bearer|basic)\s+\S{8,}|(gh[pousr]_|github_pat_|xox[bp]-|AKIA|eyJ)[\w.-]{10,}")
_REFERENCE: Final = re.compile(r"\$[({]\w+[)}]")


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks at the names and the values of headers, and at the names in the query."""
    get = probe.spec.http_get
    if get is None:
        return
    for index, header in enumerate(get.http_headers):
        field = f"httpGet.httpHeaders[{index}].value"
        if header.name.lower() == "cookie" or not header.value:
            continue
        if (reference := _REFERENCE.search(header.value)) is not None:
            yield probe.hit(
                field,
                f"the kubelet sends the text {reference[0]} as it stands: it puts no variables into headers, only into "
                "commands",
                confidence="certain",
            )
        elif _NAME.fullmatch(header.name) or _VALUE.match(header.value):
            yield probe.hit(
                field,
                f"the header {header.name} looks like a secret: everybody who may read pods reads it, and the probe "
                f"sends it every {probe.timing.period} s{_plainly(get.scheme)}",
            )
    query = get.path.partition("?")[2]
    for key, value in parse_qsl(query):
        if _NAME.fullmatch(key) and len(value) >= 4:
            yield probe.hit(
                "httpGet.path",
                f"the parameter {key} of the path looks like a secret: everybody who may read pods reads it, and the "
                "server's log has it too",
            )


def _plainly(scheme: str) -> str:
    return ", without TLS" if scheme == "HTTP" else ""


RULE = Rule(
    id="PL409",
    name="secret-in-header",
    severity="warning",
    summary="A header of the probe holds a secret, or a reference that nothing replaces.",
    why="""
A probe is a part of the pod, and the pod is no secret: everybody who may list pods, every controller, every backup and
every event about the template has it. A header cannot refer to a Secret; the request for that is open since 2020. Text
such as `$(TOKEN)` does not help: the kubelet replaces variables in commands only, and sends the text itself.

A `Cookie` alone is no finding: in probes it mostly chooses a variant of the application. The rule guesses from names
and from the form of the value.
""",
    source=(
        "https://github.com/kubernetes/kubernetes/issues/93708",
        "https://github.com/prometheus-community/helm-charts/issues/2159",
        "https://github.com/stashed/stash/issues/1036",
    ),
    fix="""
Let the health endpoint answer without credentials, on a port of its own if need be; or use a command, which reads the
secret from the container's environment.
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
-        httpGet:
-          path: /livez
-          port: 8080
-          httpHeaders: [{name: Authorization, value: Bearer c2VjcmV0LXRva2Vu}]
+        httpGet: {path: /livez, port: 8080}
""",
    check=on_probes(check),
    confidence="heuristic",
)
