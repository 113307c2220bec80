"""PL304: a container that is up waits for its startup probe."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.change import Fix, Set
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

PERIOD: Final = 10
"""Seconds that a container may wait although it is up: the default period."""

SHORTER: Final = 5
"""The period of the fix."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the period with ``PERIOD``."""
    timing = probe.timing
    if timing.period <= PERIOD:
        return
    yield probe.hit(
        "periodSeconds",
        f"a container that is up waits up to {timing.gap} s for the startup probe's next attempt, and is not ready "
        f"before: the first one comes {probe.bounds.first_probe.earliest} to {probe.bounds.first_probe.latest} s after "
        f"the start, every other one {timing.period} s later (timeout {timing.timeout} s)",
        fix=_fix(probe),
    )


def _fix(probe: LintProbe) -> Fix | None:
    """A shorter period with the same time for the start."""
    timing, budget = probe.timing, probe.bounds.startup_budget
    if budget is None or timing.timeout > SHORTER or timing.patience != timing.failures:
        return None
    # Every start that survived before has to survive, also one that was lucky with the phase.
    failures = -(-(budget.latest - timing.delay_over) // SHORTER) + 1
    return Fix(
        f"set periodSeconds to {SHORTER} and failureThreshold to {failures}: a start may take as long as before",
        (Set(f"{probe.path}.periodSeconds", SHORTER), Set(f"{probe.path}.failureThreshold", failures)),
        # A command every 5 s has a price that only its author knows.
        is_safe=probe.handler != "exec",
    )


RULE = Rule(
    id="PL304",
    name="startup-late-detection",
    severity="warning",
    summary="A container that is up waits long for its startup probe to notice.",
    why="""
Until the startup probe has passed, neither readiness nor liveness runs. A container that is up two seconds after an
attempt waits nearly a whole period for the next one, and its pod is not ready for so long. Each roll-out waits this
time once for every replica, and after a crash the Service lacks a replica for longer than necessary.

The budget of a start is failureThreshold x periodSeconds, so a short period with many failures gives the same budget
and notices soon.
""",
    formula="p > 10 s; idle up to max(p, T), first attempt after d - 1 to d + p",
    source=(
        "https://github.com/kubernetes/kubernetes/issues/95436",
        "kubernetes/pkg/kubelet/prober/worker.go: doProbe, 1.36",
    ),
    fix="Run `probelet lint --fix`: a shorter period, and so many failures that the budget stays.",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       startupProbe:
         httpGet: {path: /livez, port: 8080}
-        periodSeconds: 60
-        failureThreshold: 5
+        periodSeconds: 5
+        failureThreshold: 62
""",
    check=on_probes(check, "startup"),
)
