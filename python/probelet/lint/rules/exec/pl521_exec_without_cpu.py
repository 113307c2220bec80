"""PL521: a command has one second, and hardly any CPU in it."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes
from probelet.spec.text.quantity import parse_quantity

COST: Final = (20, 50)
"""Milliseconds of CPU that the start of a process in a container takes with containerd and runc."""

SMALL: Final = Fraction(1, 10)
"""Of a CPU: a limit of this or less is a finding."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the CPU that the limit allows within the timeout."""
    resources, timeout = probe.container.spec.resources, probe.timing.timeout
    if probe.handler != "exec" or timeout > 1 or resources is None or "cpu" not in resources.limits:
        return
    written = resources.limits["cpu"]
    limit = parse_quantity(written)
    if not 0 < limit <= SMALL:
        return
    least, most = (float(Fraction(each, 1000) / limit) for each in COST)
    yield probe.hit(
        "timeoutSeconds" if probe.is_written("timeoutSeconds") else "exec",
        f"the start of a process takes {COST[0]} to {COST[1]} ms of CPU; with a CPU limit of {written} that is "
        f"{least:.1f} to {most:.1f} s even if the server does nothing, and the timeout is {timeout} s: a server with "
        "work lets the attempt fail",
        said_by=("PL503",),
    )


RULE = Rule(
    id="PL521",
    name="exec-without-cpu",
    severity="warning",
    summary="A command has a timeout of 1 s in a container with a CPU limit of 100m or less.",
    why="""
The command runs in the container's cgroup and shares its CPU limit. With 100m the container has 10 ms of CPU in each
100 ms; when the server has used them, everything in the container stands still until the next 100 ms, the probe as
well. A process that needs 50 ms of CPU then takes half a second without any competition, and with it longer than the
timeout. The probe fails exactly when the server has work, and liveness answers with a restart, which needs more CPU.
""",
    formula="CPU limit <= 0.1 and T = 1 s; a process needs 0.02 to 0.05 s / limit",
    source=(
        "curie, issue 2416: probes with a timeout of 1 s and a CPU limit of 100m",
        "https://www.kernel.org/doc/html/latest/scheduler/sched-bwc.html",
    ),
    fix="""
A timeout of 5 s or more, an HTTP, TCP or gRPC probe, which needs no process, or a larger limit.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       resources: {limits: {cpu: 100m}}
       livenessProbe:
         exec:
           command: [/bin/check-alive]
+        timeoutSeconds: 5
""",
    check=on_probes(check),
)
