"""PL308: a delay behind a startup probe."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.change import Fix, Remove
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer, LintProbe
from probelet.lint.rule import Rule, on_containers

LONG: Final = 30
"""Seconds of a delay with an effect that are worth a finding."""

SHORT: Final = 10
"""Seconds of a delay without one: somebody meant them to do something."""


def check(container: LintContainer) -> Iterator[Hit]:
    """Finds delays of liveness and readiness in a container with a startup probe."""
    if container.startup is None:
        return
    for probe in (container.liveness, container.readiness):
        if probe is not None and probe.timing.delay:
            yield from _hits(probe, container.startup)


def _hits(probe: LintProbe, startup: LintProbe) -> Iterator[Hit]:
    delay, first = probe.timing.delay, startup.bounds.first_probe
    # The startup probe waits as long, from the same moment, so the delay is over when it passes.
    is_dead = delay <= startup.timing.delay
    if delay < (SHORT if is_dead else LONG):
        return
    if is_dead:
        effect = f"it has no effect, because the startup probe passes after {first.earliest} s at the earliest"
    elif probe.type == "readiness":
        effect = f"it only keeps a container that started sooner from being ready for {delay} s"
    else:
        effect = f"it only leaves a container that started sooner without liveness for {delay} s"
    yield probe.hit(
        "initialDelaySeconds",
        f"initialDelaySeconds {delay} counts from the container's start and not from the startup probe's success: "
        f"{effect}",
        fix=Fix("remove initialDelaySeconds", (Remove(f"{probe.path}.initialDelaySeconds"),), is_safe=is_dead),
    )


RULE = Rule(
    id="PL308",
    name="delay-behind-startup",
    severity="info",
    summary="Behind a startupProbe, initialDelaySeconds of liveness and readiness does nothing useful.",
    why="""
Liveness and readiness wait for the startup probe anyway. Their `initialDelaySeconds` counts from the start of the
container, so most of it, or all, is over when they begin. It does not give the application time after its start, as
many expect. What is left of it only delays: a container that started fast gets no requests until the delay is over.

A delay without an effect is a finding from 10 s on, one with an effect from 30 s on. `--fix` removes a delay that is
never longer than the startup probe's own, because then nothing changes.
""",
    formula="with a startupProbe d of liveness or readiness >= 30 s, or >= 10 s and <= d of the startupProbe",
    source=(
        "kubernetes/pkg/kubelet/prober/worker.go: doProbe, 1.36",
        "https://github.com/kubernetes/website/pull/40072",
    ),
    fix="Remove it. Time after the start belongs to the startup probe, or to a larger failureThreshold.",
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
         failureThreshold: 30
       livenessProbe:
         httpGet: {path: /livez, port: 8080}
-        initialDelaySeconds: 30
""",
    check=on_containers(check),
)
