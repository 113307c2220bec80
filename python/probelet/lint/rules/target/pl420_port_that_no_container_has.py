"""PL420: the probe's port is none of the ports that the pod declares."""

import re
from collections.abc import Iterator
from typing import Final

from probelet.lint.facts.config import config_texts
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer, LintProbe
from probelet.lint.rule import Rule, on_probes

_USUAL: Final = frozenset({80, 443, 3000, 3306, 5000, 5432, 6379, 8000, 8080, 8443, 8888, 9000, 27017})
"""Ports that servers have by default."""

_ASIDE: Final = re.compile(r"metrics|prom|monitor|webhook|admin|telemetry|health|debug")

_HEALTH: Final = re.compile(r"health|live|ready|ping|alive|status", re.IGNORECASE)


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for the number in everything that the manifest says about the pod."""
    number, container = probe.port_number, probe.container
    own = sorted({entry.container_port for entry in container.spec.ports if entry.protocol == "TCP"})
    if number is None or probe.host or not own or number in own or _is_known(probe, number):
        return
    others = [each for each in container.probes.values() if each.port_number in own]
    if not others and (_is_of_health(probe) or not _is_usual(container, own, number)):
        return
    beside = f", and its {others[0].type} probe asks port {others[0].port_number}" if others else ""
    ports = " and ".join(map(str, own))
    yield probe.hit(
        f"{probe.handler}.port",
        f"no container of the pod declares port {number}; this one declares {ports}{beside}: if nothing listens on "
        f"{number}, every attempt, each {probe.timing.period} s, is refused",
        severity=None if others else "info",
    )


def _is_of_health(probe: LintProbe) -> bool:
    """True for a path that is made for probes: its server may have a port to itself."""
    return probe.spec.http_get is not None and _HEALTH.search(probe.spec.http_get.path) is not None


def _is_usual(container: LintContainer, own: list[int], number: int) -> bool:
    """True for the number of a server for clients, where the container declares one other such server. Any other number
    may be that of a server for health alone."""
    names = " ".join(entry.name for entry in container.spec.ports)
    return len(own) == 1 and number in _USUAL and _ASIDE.search(names) is None


def _is_known(probe: LintProbe, number: int) -> bool:
    """True if something else in the manifest has the number: a port, an option, a variable, a Service, a ConfigMap."""
    workload, word = probe.container.workload, re.compile(rf"(?<!\d){number}(?!\d)")
    if any(number == entry.container_port for each in workload.containers for entry in each.spec.ports):
        return True
    if any(entry.target == number for service in workload.services for entry in service.spec.ports):
        return True
    if any(word.search(text) for each in workload.containers for text in _texts(each)):
        return True
    return any(word.search(text) for text in config_texts(workload))


def _texts(container: LintContainer) -> Iterator[str]:
    yield from container.spec.command
    yield from container.spec.args
    yield from (entry.value for entry in container.spec.env)
    yield from (" ".join(probe.argv) for probe in container.probes.values())


RULE = Rule(
    id="PL420",
    name="port-that-no-container-has",
    severity="warning",
    summary="The probe's port is a number that the pod does not declare, while it declares others.",
    why="""
`ports` is documentation: a server listens on a port whether it stands there or not, and the kubelet connects to the
number that the probe has. But a number that stands nowhere else in the pod, beside others that do, is often a port that
was changed in one place only: the server moved from 8080 to 8000, and the probe did not. Then every attempt is refused.
The pod is never ready, or its container is killed again and again.

It is a warning where another probe of the same container asks a port that is declared. Elsewhere it is information, and
only for a path that is not made for probes, and the usual numbers of servers for clients, such as 8080: a port for
health alone is often missing from `ports`. A number in an option, a variable, a Service or a ConfigMap of the
pod is no finding.
""",
    source=(
        "kube-linter: liveness-port, readiness-port, startup-port",
        "https://github.com/stackrox/kube-linter/issues/1086",
        "https://github.com/stackrox/kube-linter/issues/1197",
    ),
    fix="""
Correct the number, or give the port an entry with a name and let the probe use the name: PL405 then finds a mistake.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       ports: [{containerPort: 8000}]
       livenessProbe:
         httpGet: {path: /livez, port: 8000}
       readinessProbe:
-        httpGet: {path: /readyz, port: 8080}
+        httpGet: {path: /readyz, port: 8000}
""",
    check=on_probes(check),
    confidence="heuristic",
)
