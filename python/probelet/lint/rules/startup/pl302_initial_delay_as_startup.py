"""PL302: a fixed delay stands in for a startup probe."""

from collections.abc import Iterator
from typing import Final

import msgspec

from probelet.lint.change import Fix, Plain, Remove, Set
from probelet.lint.command.looks_at import looks_at
from probelet.lint.command.why_it_succeeds import why_it_succeeds
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer, LintProbe
from probelet.lint.rule import Rule, on_containers
from probelet.spec.model.probe import Probe

DELAY: Final = 60
"""Seconds from which on a delay is a guess at the start, and no politeness."""

PERIOD: Final = 10
"""The longest period of the startup probe in the fix: so long may a container wait that is up already."""

_DEFAULTS: Final[tuple[tuple[str, str], ...]] = (("scheme", "HTTP"), ("path", "/"), ("service", ""))


def check(container: LintContainer) -> Iterator[Hit]:
    """Finds a liveness probe that waits long for its first attempt."""
    liveness, budget = container.liveness, container.startup_budget
    if liveness is None or container.startup is not None or budget is None or liveness.timing.delay < DELAY:
        return
    timing, first = liveness.timing, liveness.bounds.first_probe
    if timing.delay <= timing.period or not _fails_of_a_start(liveness):
        # A delay of one period leaves out no attempt but the first.
        return
    yield liveness.hit(
        "initialDelaySeconds",
        f"initialDelaySeconds {timing.delay} guesses how long a start takes: a start of more than "
        f"{budget.earliest} s may be killed, and a container that is up after 2 s is not watched before "
        f"{first.earliest} to {first.latest} s, after every restart",
        fix=_fix(liveness, budget.latest),
        said_by=("PL307",),
    )


def _fails_of_a_start(probe: LintProbe) -> bool:
    """False for a command that a start passes, however long it takes: processes and files are there at once."""
    return looks_at(probe.argv) is None and why_it_succeeds(probe.argv) is None


def _fix(liveness: LintProbe, budget: int) -> Fix:
    """A startup probe under which every start survives that survived before."""
    timing = liveness.timing
    period = min(timing.period, max(PERIOD, timing.timeout))
    # The budget for sure is one period less than failureThreshold x periodSeconds. It covers the latest kill of before.
    failures = -(-budget // period) + 1
    probe: dict[str, Plain] = {**_handler_text(liveness), "periodSeconds": period, "failureThreshold": failures}
    if timing.timeout != 1:
        probe["timeoutSeconds"] = timing.timeout
    if (grace := liveness.spec.termination_grace_period_seconds) is not None:
        probe["terminationGracePeriodSeconds"] = grace
    return Fix(
        f"put a startupProbe with periodSeconds {period} and failureThreshold {failures} in place of the delay: a "
        f"start may take {(failures - 1) * period} s, and liveness begins when it is done",
        (
            Remove(f"{liveness.path}.initialDelaySeconds"),
            Set(f"{liveness.container.path}.startupProbe", probe),
        ),
        is_safe=True,
    )


def _handler_text(probe: LintProbe) -> dict[str, Plain]:
    """The handler's field with its value, without what is the default anyway."""
    spec = probe.spec
    bare = Probe(exec=spec.exec, http_get=spec.http_get, tcp_socket=spec.tcp_socket, grpc=spec.grpc)
    found: dict[str, Plain] = msgspec.to_builtins(bare)
    for value in found.values():
        assert isinstance(value, dict)
        for name, default in _DEFAULTS:
            if value.get(name) == default:
                del value[name]
        if not value.get("httpHeaders", True):
            del value["httpHeaders"]
    return found


RULE = Rule(
    id="PL302",
    name="initial-delay-as-startup",
    severity="warning",
    summary="A long initialDelaySeconds of liveness is a guess at the start, where a startupProbe would measure it.",
    why="""
The delay is the same for every start. If the start takes longer one day, because of more data, a slower node or many
starts at once, then the container is killed during each start and never gets up. If it is shorter, nothing watches the
container for the rest of the delay, also after each restart. A value that is right for both does not exist.

A startupProbe asks again and again until the container is up, and only then liveness begins. It may have a budget of
many minutes and costs nothing when the start is quick. The article is older than it: startup probes came with
Kubernetes 1.16.

A delay of less than a minute is no finding, nor is one that is no longer than the period, or that of a command that no
start can fail because it only looks at processes or files.

The fix adds one with liveness' own handler and at least the same budget: every start that survived before survives. A
container that hangs later is killed as soon as before. Readiness begins when the startup probe has passed.
""",
    formula="d >= 60 s and d > p without startupProbe; budget d - 1 + (F - 1) x p, first attempt after d - 1 to d + p",
    source=(
        "Breck, Liveness: set the initialDelaySeconds parameter conservatively",
        "https://github.com/sapcc/openstack-helm/pull/64",
        "https://github.com/kubernetes/kubernetes/issues/95436",
    ),
    fix="""
Run `probelet lint --fix`, or write the startupProbe by hand with the budget that your slowest start needs.
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
-        initialDelaySeconds: 120
         periodSeconds: 10
+      startupProbe:
+        httpGet: {path: /livez, port: 8080}
+        periodSeconds: 10
+        failureThreshold: 15
""",
    check=on_containers(check),
)
