"""PL412: the server gets another path than the manifest has."""

import re
from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(/?)[^?]")
"""A host with a port looks like a scheme to Go, unless it begins with a digit."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Reads the path as the kubelet does. A path that only lacks its first slash gets one, as everybody means it."""
    get = probe.spec.http_get
    if get is None or probe.handler != "httpGet":
        return
    path = get.path
    field = "httpGet.path"
    scheme = _SCHEME.match(path)
    if "://" in path.partition("?")[0]:
        asked = "/" + path.partition("://")[2].partition("/")[2]
        yield probe.hit(
            field,
            f"the path is a whole address: the prober takes only {asked} of it, and connects to the pod's port "
            f"{get.port} with {get.scheme}",
        )
    elif scheme is not None and not scheme[2]:
        yield probe.hit(
            field,
            f"{scheme[1]!r} at the beginning of {path!r} reads as the scheme of an address without a host, so every "
            "attempt fails (no Host in request URL)",
            severity="error",
        )
    elif "#" in path:
        sent = path.partition("#")[0]
        yield probe.hit(field, f"the part of {path!r} from # on is never sent: the server gets {sent!r}")
    elif path != path.strip():
        yield probe.hit(field, f"the spaces at the ends of {path!r} are a part of the path that the server gets")


RULE = Rule(
    id="PL412",
    name="path-not-as-written",
    severity="warning",
    summary="The server gets another path than the one in the manifest.",
    why="""
The kubelet reads the path as a URL and then puts its own scheme, host and port into it. Whatever the path says about
these is lost without a word, and so is everything behind a `#`. The API server accepts all of it, because it cannot
refuse what older clusters already have.

`localhost:8080/livez` is an error: Go reads `localhost` as the scheme of an address, finds no host, and sends nothing.
A path that only lacks the slash at its beginning is no finding: the server gets it with one.
""",
    source=(
        "kubernetes/pkg/probe/http/request.go: formatURL, 1.36",
        "net/url: URL.String, Go 1.24",
    ),
    fix="""
Write the path alone: `/livez`, with a query if need be.
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
-        httpGet: {path: 'http://localhost:9000/livez', port: 8080}
+        httpGet: {path: /livez, port: 9000}
""",
    check=on_probes(check),
)
