"""PL401: an attempt may take longer than a period."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

LATER: Final = 20
"""Seconds. A verdict that comes less late than that is no surprise."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares timeout and period."""
    timing = probe.timing
    latest = probe.bounds.to_unready or probe.bounds.to_kill
    assert latest is not None  # A probe decides one of both.
    if timing.timeout <= timing.period or latest.latest - timing.failures * timing.period < LATER:
        return
    verdict = "unready" if probe.type == "readiness" else "killed"
    yield probe.hit(
        "timeoutSeconds" if probe.is_written("timeoutSeconds") else "periodSeconds",
        f"timeoutSeconds {timing.timeout} is longer than periodSeconds {timing.period}: while the container hangs, an "
        f"attempt begins every {timing.gap} s and not every {timing.period} s, and it is {verdict} after up to "
        f"{latest.latest} s, not after {timing.failures} x {timing.period} = {timing.failures * timing.period} s",
        said_by=("PL418",),
    )


RULE = Rule(
    id="PL401",
    name="timeout-above-period",
    severity="warning",
    summary="An attempt may take longer than a period, so the period does not hold when it matters.",
    why="""
A worker has one attempt at a time. While an attempt hangs, the ticks of the following periods collapse into one, which
runs right after it. The period is then the timeout's, and the time until the verdict grows with it: just where the
container hangs, the probe is the slowest.

A timeout that equals the period is no finding: attempts follow each other without a pause and without a loss. Nor is
one that makes the verdict less than 20 s later, or that of a startup probe, which only gives the start more time.
""",
    formula="T > p, and F x T + T, the latest verdict, 20 s or more above F x p",
    source=(
        "kubernetes/pkg/kubelet/prober/worker.go: run, 1.36",
        "https://github.com/kyverno/policies/pull/1500",
    ),
    fix="Make the period as long as the timeout, and the failureThreshold as small as the wanted time allows.",
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
         periodSeconds: 10
-        timeoutSeconds: 30
+        timeoutSeconds: 10
""",
    scenario="deadlock",
    check=on_probes(check, "liveness", "readiness"),
)
