"""PL411: the scheme of the probe is not the one of its port."""

import re
from collections.abc import Iterator
from typing import Final

from probelet.lint.facts.consequence import of_failing
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

_TLS: Final = re.compile(r"https|(.+-)?(https|tls|ssl)")
_TLS_NUMBERS: Final = frozenset({443, 6443, 8443, 9443})


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the scheme with the port's name, or its number if it has none."""
    get, number = probe.spec.http_get, probe.port_number
    if get is None or number is None or probe.handler != "httpGet":
        return
    names = [entry.name for entry in probe.container.spec.ports if entry.container_port == number and entry.name]
    is_tls = any(_TLS.fullmatch(name) for name in names) or (not names and number in _TLS_NUMBERS)
    # Ports with the name http do speak TLS now and then; nobody serves TLS on port 80.
    is_plain = number == 80
    label = f"port {number}" + (f" ({names[0]})" if names else "")
    if get.scheme == "HTTP" and is_tls:
        answer = "a server with TLS answers a plain request with 400, or with a redirect to another port"
    elif get.scheme == "HTTPS" and is_plain:
        answer = "a server without TLS ends the handshake"
    else:
        return
    message = f"the probe sends {get.scheme} to {label}: {answer}, and then {of_failing(probe)}"
    yield probe.hit("httpGet.scheme", message)


RULE = Rule(
    id="PL411",
    name="scheme-against-port",
    severity="warning",
    summary="The probe speaks plain HTTP to a port for TLS, or TLS to a port for plain HTTP.",
    why="""
The scheme of a probe is HTTP unless the manifest has another one, also where the port is called `https`. Most servers
with TLS answer plain text with 400, so the attempt fails; some answer with a redirect to HTTPS. The prober follows a
redirect to the same host name, on whichever port it says, and takes one to any other host for a success with a
warning. So the probe either always fails, or says nothing about the server.
""",
    source=(
        "https://github.com/kubernetes/kubernetes/issues/136698",
        "https://github.com/kubernetes/website/issues/30849",
        "kubernetes/pkg/probe/http/http.go: RedirectChecker, 1.36",
    ),
    fix="""
Write `scheme: HTTPS`; the prober does not verify the certificate.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       ports: [{name: https, containerPort: 8443}]
       livenessProbe:
-        httpGet: {path: /livez, port: https}
+        httpGet: {path: /livez, port: https, scheme: HTTPS}
""",
    check=on_probes(check),
    confidence="heuristic",
)
