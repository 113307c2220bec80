"""PL205: a short disturbance kills the container."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

SHORTEST: Final = 20
"""Seconds of failures that a container should survive: what the defaults (period 10, failureThreshold 3) allow."""

FEWEST: Final = 3
"""Failures that should be needed: the default."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the shortest disturbance that kills with that of the defaults."""
    timing, kill = probe.timing, probe.bounds.to_kill
    if kill is None or (kill.earliest >= SHORTEST and timing.failures >= FEWEST):
        return
    if timing.failures == 1:
        message = f"one attempt that fails or takes longer than {timing.timeout} s kills the container"
    else:
        message = (
            f"{timing.failures} attempts that fail or take longer than {timing.timeout} s kill the container, and a "
            f"disturbance of {max(kill.earliest, 1)} s may be enough for them"
        )
    yield probe.hit(
        "failureThreshold" if probe.is_written("failureThreshold") else "periodSeconds",
        f"{message} (failureThreshold {timing.failures}, period {timing.period} s; the defaults survive {SHORTEST} s)",
    )


RULE = Rule(
    id="PL205",
    name="liveness-intolerant",
    severity="warning",
    summary="A disturbance of a few seconds kills the container.",
    why="""
A container that is busy, throttled or in a garbage collection misses some probes and is healthy again some seconds
later. A restart takes longer than that: the start, cold caches, and after some restarts the back-off of up to five
minutes. So a liveness probe should only kill what would not have recovered.

Here a disturbance shorter than 20 s, or fewer than three failed attempts, are enough to kill. Noticing a real deadlock
20 s earlier is seldom worth that.
""",
    formula="F < 3, or (F - 1) x p < 20 s; (F - 2) x p, if T is longer than p",
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
