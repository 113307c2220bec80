"""PL410: the probe asks a path that is made for something else."""

import re
from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

_METRICS: Final = re.compile(r"(.*/)?(metrics|prometheus)/?")
_DOCUMENTS: Final = re.compile(r".*(swagger|openapi|api-docs).*", re.IGNORECASE)
_OUTSIDE: Final = ("LoadBalancer", "NodePort")
"""Types of Services that clients outside of the cluster reach."""

_USUAL: Final = frozenset({"host", "user-agent", "accept"})
_PROBES: Final = re.compile(r"health|probe|live|ready|status")
_OF_FILES: Final = re.compile(r"(^|[/_-])(nginx|httpd|caddy|lighttpd|busybox|frontend|static|ui)([-_:@]|$)")
"""Images of servers of files, and of what people name a server of files."""

SHORT: Final = 1
"""Seconds. With more time for it, a page is no risk."""

_DAY: Final = 86400


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks at the path."""
    get = probe.spec.http_get
    if get is None or probe.handler != "httpGet":
        return
    path, times = get.path.partition("?")[0], f"{_DAY // probe.timing.period:,} times a day"
    if _METRICS.fullmatch(path):
        yield probe.hit(
            "httpGet.path",
            f"{times} {path} collects and writes all metrics for a prober that only reads the status: the more series "
            f"there are, the longer it takes, and after {probe.timing.timeout} s the attempt fails",
        )
    elif _DOCUMENTS.fullmatch(path):
        yield probe.hit(
            "httpGet.path",
            f"{times} the probe asks for the documentation {path}: a large answer that says nothing about the server's "
            "work, and of which the prober reads 10 KiB at most",
            severity="info",
        )
    elif path in ("", "/") and probe.timing.timeout <= SHORT and _may_be_a_page(probe):
        yield probe.hit(
            "httpGet.path",
            f"{times} the probe asks for /: if this is a page for people, it costs what the page costs, may ask what "
            f"the page asks, and has to answer within {probe.timing.timeout} s",
            severity="info",
        )


def _may_be_a_page(probe: LintProbe) -> bool:
    """True for liveness of pods that people reach from outside of the cluster, unless the answer is made for probes."""
    workload = probe.container.workload
    is_outside = any(service.spec.type in _OUTSIDE for service in workload.services) or bool(workload.routes)
    return probe.type == "liveness" and is_outside and not _is_for_probes(probe)


def _is_for_probes(probe: LintProbe) -> bool:
    """True if a header or the port says that the answer at / is made for probes: the port by its name, or because
    containerPorts has others and not this one, as with the health ports of collectors and meshes."""
    get, number = probe.spec.http_get, probe.port_number
    if _OF_FILES.search(probe.container.spec.image.lower()):
        # A server of files answers / from memory.
        return True
    if get is not None and any(header.name.lower() not in _USUAL for header in get.http_headers):
        return True
    ports = probe.container.spec.ports
    names = [entry.name for entry in ports if entry.container_port == number]
    return any(map(_PROBES.search, names)) if names else bool(ports)


RULE = Rule(
    id="PL410",
    name="expensive-path",
    severity="warning",
    summary="The probe asks for metrics, documentation or a page, which costs more than a status.",
    why="""
A probe reads the status of the answer and nothing else; of the body it reads at most 10 KiB, then it closes the
connection, and servers write *broken pipe* into their logs. `/metrics` collects every series of the process each time:
it gets slower with the age and the load of the process, until the probe's timeout is too short, and then a healthy
container is killed. One case: a page at `/` with a timeout of 1 s and one replica ended in a spiral of restarts.

`/` is information only, and only for liveness with a timeout of one second behind an Ingress, a route or a Service of
type LoadBalancer or NodePort: elsewhere it is mostly a status. It is no finding where a header of the probe or the
port's name says that the answer is made for probes, where the image is one of a server of files, or where the probe has
a port to itself: one that containerPorts lacks beside others.
""",
    source=(
        "https://github.com/kubernetes/website/issues/52724",
        "https://github.com/Systemorph/MeshWeaver/issues/592",
        "Breck, Liveness: keep the implementation of the probe cheap",
    ),
    fix="""
Ask a path that only answers, such as `/livez` or `/healthz`.
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
-        httpGet: {path: /metrics, port: 8080}
+        httpGet: {path: /livez, port: 8080}
""",
    check=on_probes(check, "liveness", "readiness"),
    confidence="heuristic",
)
