"""PL105: a readiness probe whose numbers are those of a start."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

DELAY: Final = 60
PERIOD: Final = 30
"""Seconds. The article's own example has 300 and 30."""

MINUTES: Final = 120
"""Seconds. So long a delay is a finding whatever the period is."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Finds a delay of minutes, and a long delay together with a long period."""
    timing, unready = probe.timing, probe.bounds.to_unready
    if timing.delay < DELAY or unready is None or probe.container.startup is not None:
        return
    if timing.period < PERIOD and timing.delay < MINUTES:
        return
    if timing.period < PERIOD:
        yield probe.hit(
            "initialDelaySeconds",
            f"no container is ready in its first {timing.delay_over} s, however fast it starts: each roll-out and "
            f"each restart after a crash wait so long for every replica, although readiness itself would ask every "
            f"{timing.period} s",
        )
        return
    yield probe.hit(
        "initialDelaySeconds",
        f"no container is ready in its first {timing.delay_over} s, however fast it starts; and because readiness "
        f"runs for its whole life, one that stops answering gets requests for {unready.earliest} to "
        f"{unready.latest} s more (failureThreshold {timing.failures}, period {timing.period} s)",
    )


RULE = Rule(
    id="PL105",
    name="readiness-only-at-start",
    severity="info",
    summary="The readiness probe has the numbers of a start, but it runs for the container's whole life.",
    why="""
A long initialDelaySeconds and a long period say that the author thought of the start alone: the container loads its
data, and is ready from then on. Readiness does not end there. It goes on every period until the container ends, with
numbers that were not meant for that: slow to notice a container that hangs, and slow to take it back.

A startupProbe is made for the start. It has a short period, so that the pod is ready soon after the data is there, and
many failures, so that the data may take its time. Readiness begins behind it, and can then have numbers of its own.
""",
    formula="d >= 120 s, or d >= 60 s and p >= 30 s; ready after d - 1, unready after up to F x max(p, T) + T",
    source=("Breck, Readiness: the documentation emphasizes the readiness probe when starting a container",),
    fix="""
Move the time of the start to a startupProbe: periodSeconds 5, and a failureThreshold of that time divided by 5.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: cache-server}
 spec:
   containers:
     - name: cache-server
       image: registry.example/cache-server:1
+      startupProbe:
+        httpGet: {path: /readiness, port: 8888}
+        periodSeconds: 5
+        failureThreshold: 120
       readinessProbe:
         httpGet: {path: /readiness, port: 8888}
-        initialDelaySeconds: 300
-        periodSeconds: 30
+        periodSeconds: 5
+        failureThreshold: 4
""",
    check=on_probes(check, "readiness"),
)
