"""PL412: the server gets another path than the manifest has."""

from collections.abc import Iterator

from probelet.lint.change import Fix, Set
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Reads the path as the kubelet does."""
    get = probe.spec.http_get
    if get is None or probe.handler != "httpGet":
        return
    path = get.path
    field = "httpGet.path"
    if "://" in path.partition("?")[0]:
        asked = "/" + path.partition("://")[2].partition("/")[2]
        yield probe.hit(
            field,
            f"the path is a whole address: the prober takes only {asked} of it, and connects to the pod's port "
            f"{get.port} with {get.scheme}",
        )
    elif "#" in path:
        sent = path.partition("#")[0]
        yield probe.hit(field, f"the part of {path!r} from # on is never sent: the server gets {sent!r}")
    elif path != path.strip():
        yield probe.hit(field, f"the spaces at the ends of {path!r} are a part of the path that the server gets")
    elif not path.startswith(("/", "?")):
        yield probe.hit(
            field,
            f"the path has no slash at its beginning: the prober sends /{path}",
            severity="info",
            fix=Fix(f"write /{path}", (Set(f"{probe.path}.{field}", f"/{path}"),), is_safe=":" not in path),
        )


RULE = Rule(
    id="PL412",
    name="path-not-as-written",
    severity="warning",
    summary="The server gets another path than the one in the manifest.",
    why="""
The kubelet reads the path as a URL and then puts its own scheme, host and port into it. Whatever the path says about
these is lost without a word, and so is everything behind a `#`. A path without a slash gets one. The API server accepts
all of it, because it cannot refuse what older clusters already have.
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
