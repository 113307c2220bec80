"""PL418: an attempt may last five periods or more."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.facts.minutes import in_minutes
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

TIMES: Final = 5
"""So many periods in a timeout are no accident of two numbers that are nearly equal."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares timeout and period."""
    timing = probe.timing
    if timing.timeout < TIMES * timing.period:
        return
    latest = probe.bounds.to_unready or probe.bounds.to_kill
    assert latest is not None  # A probe decides one of both.
    verdict = "out of service" if probe.type == "readiness" else "killed"
    yield probe.hit(
        "timeoutSeconds",
        f"timeoutSeconds {timing.timeout} is {timing.timeout // timing.period} times periodSeconds {timing.period}: a "
        f"container that hangs is {verdict} only after up to {latest.latest} s{in_minutes(latest.latest)}, and one "
        f"that refuses after {timing.failures} x {timing.period} = {timing.failures * timing.period} s",
    )


RULE = Rule(
    id="PL418",
    name="timeout-of-many-periods",
    severity="warning",
    summary="An attempt may last five periods or more, so a container that hangs is noticed after minutes.",
    why="""
The period looks quick, and it is quick while the server refuses connections. A server that hangs keeps each attempt
until its timeout, and the next attempt waits for it. The two ways to fail then have very different times: seconds for
a dead process, many minutes for a deadlock, which is what liveness is for. The numbers in the manifest show only the
first one. One manifest has a timeout of 600 s with a period of 3 s: a readiness that hangs is noticed after forty
minutes.
""",
    formula="T >= 5 x p; verdict after at most F x T + T",
    source=(
        "tektoncd/plumbing, prow/control-plane: timeoutSeconds 600 with periodSeconds 3",
        "kubernetes/pkg/kubelet/prober/worker.go: run, 1.36",
    ),
    fix="""
A timeout as long as clients wait, and as many failures as the verdict may take.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       readinessProbe:
         httpGet: {path: /readyz, port: 8080}
         periodSeconds: 3
-        timeoutSeconds: 600
+        timeoutSeconds: 3
""",
    check=on_probes(check),
)
