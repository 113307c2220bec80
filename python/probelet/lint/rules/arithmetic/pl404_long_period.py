"""PL404: a long period makes everything about the probe late."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

LONGEST: Final = 60
"""Seconds. A shorter period is no finding."""

LONGEST_OF_LIVENESS: Final = 600
"""Patience is a virtue of liveness; ten minutes of it are no accident of a second's sake."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the period with ``LONGEST``."""
    timing, bounds = probe.timing, probe.bounds
    if timing.period < (LONGEST if bounds.to_ready is not None else LONGEST_OF_LIVENESS):
        return
    if bounds.to_ready is not None:
        text = f"after a failed attempt a server that is well again waits up to {bounds.to_ready.latest} s for requests"
    else:
        kill = bounds.to_kill
        assert kill is not None  # Liveness decides this.
        text = f"a container that hangs is killed after {kill.earliest} to {kill.latest} s"
    first = bounds.first_probe
    yield probe.hit(
        "periodSeconds",
        f"with periodSeconds {timing.period} the first attempt comes {first.earliest} to {first.latest} s after the "
        f"container's start (initialDelaySeconds {timing.delay}), and {text}",
        said_by=("PL105",),
    )


RULE = Rule(
    id="PL404",
    name="long-period",
    severity="warning",
    summary="With a period of minutes, the first attempt and every verdict come late.",
    why="""
`initialDelaySeconds` is not the time of the first attempt. The worker of a probe has ticks of its own, `periodSeconds`
apart, and the first tick behind the delay is the first attempt: up to a whole period later. After a restart of the
kubelet the ticks begin at a random moment. People measured 840 s for a period of 900 s and a delay of 0.

With readiness the price is paid at each recovery: the pod stays out of its Service until the next attempt. With
liveness a long period is one way to be patient, and a finding from ten minutes on: a container that hangs is killed
after half an hour, or after hours where the number was meant as milliseconds. For startup probes see PL304.
""",
    formula="p >= 60 s of readiness, p >= 600 s of liveness; first attempt max(d - 1, 0) to d + p after the start",
    source=(
        "https://github.com/kubernetes/kubernetes/issues/62036",
        "kubernetes/pkg/kubelet/prober/worker.go: run, doProbe, 1.36",
    ),
    fix="""
Shorten the period and raise failureThreshold by the same factor: the time until the verdict stays.
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
-        periodSeconds: 120
+        periodSeconds: 10
""",
    check=on_probes(check, "liveness", "readiness"),
)
