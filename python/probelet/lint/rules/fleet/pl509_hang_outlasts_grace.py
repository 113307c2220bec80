"""PL509: a container that hangs keeps its pod for the whole grace period."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.change import Fix, Set
from probelet.lint.facts.minutes import in_minutes
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

LONGEST: Final = 300
"""Seconds of grace from which on a hang is worth a finding."""

LONGEST_OWN: Final = 600
"""The same for the probe's own grace, which somebody chose for a container that hangs."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the pod's grace period with ``LONGEST``."""
    workload, kill = probe.container.workload, probe.bounds.to_kill
    own, grace = probe.spec.termination_grace_period_seconds, workload.pod.spec.termination_grace_period_seconds or 0
    if kill is None or (grace < LONGEST if own is None else own < LONGEST_OWN):
        return
    if own is not None:
        yield probe.hit(
            "terminationGracePeriodSeconds",
            f"a container that hangs gets its signal after up to {kill.latest} s and has the probe's own "
            f"terminationGracePeriodSeconds {own} to do so, which a hung process does not use: it is gone only after "
            f"up to {kill.latest + own} s{in_minutes(kill.latest + own)}",
        )
        return
    yield probe.hit(
        "",
        f"a container that hangs gets its signal after up to {kill.latest} s and has terminationGracePeriodSeconds "
        f"{grace} to do so, which a hung process does not use: it is gone only after up to {kill.latest + grace} s"
        f"{in_minutes(kill.latest + grace)}; the probe can have a terminationGracePeriodSeconds of its own",
        fix=Fix(
            "set the probe's own terminationGracePeriodSeconds to 30",
            (Set(f"{probe.path}.terminationGracePeriodSeconds", 30),),
        ),
    )


RULE = Rule(
    id="PL509",
    name="hang-outlasts-grace",
    severity="warning",
    summary="After a kill by its probe, a container that hangs keeps a long grace period for nothing.",
    why="""
A kill by liveness gives the container the same time to end as a deletion of the pod: `terminationGracePeriodSeconds`.
Pods that drain long connections have minutes or hours of it. A process in a deadlock does not react to SIGTERM, so all
of this time passes before SIGKILL and the restart, and the probe that was to bring the container back soon does not.

Since Kubernetes 1.25 a liveness or startup probe can have a shorter grace period of its own. One that is as long as an
hour does the opposite.
""",
    formula="g >= 300 s of the pod, g >= 600 s of the probe; gone after at most F x max(p, T) + T + g",
    source=(
        "https://github.com/kubernetes/kubernetes/issues/64715",
        "KEP-2238",
    ),
    fix="""
Give the probe its own terminationGracePeriodSeconds: as long as a container that still reacts needs.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   terminationGracePeriodSeconds: 3600
   containers:
     - name: web
       image: registry.example/web:1
       livenessProbe:
         httpGet: {path: /livez, port: 8080}
+        terminationGracePeriodSeconds: 30
""",
    check=on_probes(check, "liveness", "startup"),
)
