"""PL205: a short disturbance kills the container."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.change import Fix, Set
from probelet.lint.command.looks_at import looks_at
from probelet.lint.command.why_it_succeeds import why_it_succeeds
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

SHORTEST: Final = 10
"""Seconds of failures that a container should survive: half of what the defaults (period 10, failureThreshold 3) allow.
A disturbance of 10 s is no rarity: a long garbage collection, a busy node, an election."""

FEWEST: Final = 2
"""Failures that should be needed: one failed attempt is no news about a server."""

WANTED: Final = 20
"""Seconds that the advice has in mind: what the defaults survive."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the shortest disturbance that kills with that of the defaults."""
    timing, kill = probe.timing, probe.bounds.to_kill
    if kill is None or (kill.earliest >= SHORTEST and timing.failures >= FEWEST) or not _sees_disturbances(probe):
        return
    enough = -(-WANTED // timing.period) + 1
    if timing.failures == 1:
        message = f"one attempt that fails or takes longer than {timing.timeout} s kills the container"
    else:
        message = (
            f"{timing.failures} attempts that fail or take longer than {timing.timeout} s kill the container, and a "
            f"disturbance of {max(kill.earliest, 1)} s may be enough for them"
        )
    yield probe.hit(
        "failureThreshold" if probe.is_written("failureThreshold") else "periodSeconds",
        f"{message} (failureThreshold {timing.failures}, period {timing.period} s); with failureThreshold {enough} it "
        f"survives {(enough - 1) * timing.period} s",
        fix=Fix(f"set failureThreshold to {enough}", (Set(f"{probe.path}.failureThreshold", enough),)),
        # Where a period as long as the timeout is enough, the timeout is the cause.
        said_by=("PL401", "PL418") if (timing.failures - 1) * timing.gap >= SHORTEST else (),
    )


def _sees_disturbances(probe: LintProbe) -> bool:
    """False for a probe that a busy server passes. The kernel takes connections for it, and a process or a file is
    there all the same; what fails such a probe is no disturbance of a few seconds."""
    if probe.handler == "tcpSocket":
        return probe.timing.failures == 1
    return looks_at(probe.argv) is None and why_it_succeeds(probe.argv) is None


RULE = Rule(
    id="PL205",
    name="liveness-intolerant",
    severity="warning",
    summary="A disturbance of a few seconds kills the container.",
    why="""
A container that is busy, throttled or in a garbage collection misses some probes and is healthy again some seconds
later. A restart takes longer than that: the start, cold caches, and after some restarts the back-off of up to five
minutes. So a liveness probe should only kill what would not have recovered.

Here a disturbance shorter than 10 s, or a single failed attempt, is enough to kill. Noticing a real deadlock a few
seconds earlier is seldom worth that. A TCP probe, or a command that only looks at processes or files, is no finding: a
busy server passes it.
""",
    formula="F = 1, or (F - 1) x p < 10 s; (F - 2) x p, if T is longer than p",
    source=(
        "Breck, Liveness: using a forgiving failureThreshold count",
        "https://github.com/Systemorph/MeshWeaver/pull/592",
    ),
    fix="""
Raise failureThreshold until (failureThreshold - 1) x periodSeconds is at least 20 s, or better a minute.
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
         httpGet: {path: /livez, port: 8080}
-        periodSeconds: 3
-        failureThreshold: 2
+        periodSeconds: 10
+        failureThreshold: 6
""",
    scenario="gc-pause",
    check=on_probes(check, "liveness"),
)
