"""PL207: a liveness probe that a container which hangs passes."""

import re
from collections.abc import Iterator
from typing import Any, Final

from probelet.lint.command.looks_at import OF_PROCESSES, directories, looks_at
from probelet.lint.command.shell import program
from probelet.lint.command.statements import statements
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

_HTTP: Final = re.compile(r"(https?|web|rest|h2c?)(-.*)?")


def check(probe: LintProbe) -> Iterator[Hit]:
    """Finds probes that only see that a process or a socket exists."""
    if probe.handler == "tcpSocket":
        yield from _tcp(probe)
        return
    if looks_at(probe.argv) == "processes":
        name = next(program(words) for words in statements(probe.argv) if program(words) in OF_PROCESSES)
        yield probe.hit(
            "exec.command",
            f"{name} only sees that a process exists, which is also true of one that hangs: every "
            f"{probe.timing.period} s a command runs that cannot find what liveness is for; if the container's main "
            "process ends, the kubelet restarts it without any probe",
            said_by=("PL518",),
        )
    elif _lists_only(probe):
        yield probe.hit(
            "exec.command",
            f"ls only sees that {' and '.join(directories(probe.argv))} is there, which is also true while the server "
            f"hangs: every {probe.timing.period} s a command runs that cannot find what liveness is for",
            said_by=("PL518",),
        )


def _lists_only(probe: LintProbe) -> bool:
    """True for a list of a directory of the image. One in a volume may be a check of the volume."""
    found = directories(probe.argv)
    mounts: list[Any] = probe.container.spec.volume_mounts or []
    volumes = [str(mount.get("mountPath", "")).rstrip("/") for mount in mounts if isinstance(mount, dict)]
    is_in_volume = any(path == each or path.startswith(f"{each}/") for path in found for each in volumes if each)
    return bool(found) and looks_at(probe.argv) == "files" and not is_in_volume


def _tcp(probe: LintProbe) -> Iterator[Hit]:
    number = probe.port_number
    name = next((entry.name for entry in probe.container.spec.ports if entry.container_port == number), "")
    if _HTTP.fullmatch(name) is not None:
        yield probe.hit(
            "tcpSocket",
            f"the kernel accepts connections to port {number} ({name}) also while the server hangs, until its queue "
            f"is full: liveness sees no deadlock; an httpGet every {probe.timing.period} s asks the server itself",
            confidence="heuristic",
        )


RULE = Rule(
    id="PL207",
    name="liveness-proves-nothing",
    severity="warning",
    summary="A container that hangs passes this liveness probe.",
    why="""
A liveness probe is there for one case: the process exists, and does nothing any more. `pgrep`, `pidof` and `ps` find
the process and are content, and `ls` finds a directory of the image. A TCP connection is the kernel's work: it is set
up before the server calls `accept`, so a server in a deadlock passes the probe for a long time. The case that these
probes do find, a process that has ended, is the one that the kubelet notices by itself.

A TCP probe of a server that speaks no HTTP may be the best there is. The rule only reports ports whose name says HTTP.
""",
    source=(
        "Breck, Liveness: the probe may not actually verify the responsiveness of the service",
        "kyverno/policies: deny-commands-in-exec-probe",
    ),
    fix="""
Ask the server: httpGet of a path that needs the event loop and nothing else. Or have no liveness probe.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       ports: [{name: http, containerPort: 8080}]
       livenessProbe:
-        tcpSocket: {port: http}
+        httpGet: {path: /livez, port: http}
""",
    scenario="deadlock",
    check=on_probes(check, "liveness"),
)
