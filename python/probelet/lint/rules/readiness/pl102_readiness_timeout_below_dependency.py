"""PL102: a readiness probe asks a dependency and waits less for the answer than the dependency may need."""

from collections.abc import Iterator

from probelet.lint.change import Fix, Set
from probelet.lint.facts.dependency import dependency
from probelet.lint.facts.replicas import all_of_them
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes
from probelet.lint.settings import Settings


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the timeout with the dependency's longest answer."""
    found, unready = dependency(probe), probe.bounds.to_unready
    longest = probe.container.workload.settings.dependency_max
    if found is None or found.kind in ("own service", "whole") or unready is None or longest is None:
        return
    timeout = probe.timing.timeout
    if timeout > longest:
        return
    yield probe.hit(
        "timeoutSeconds",
        f"readiness asks {found.what}, and gives up after {timeout} s: while answers take up to {longest:g} s, "
        f"{all_of_them(probe.container.workload)} leave service after {unready.earliest} to {unready.latest} s, "
        "although every request would still be answered, only later",
        confidence=found.confidence,
        fix=Fix(
            "set timeoutSeconds above the longest answer of the dependency",
            (Set(f"{probe.path}.timeoutSeconds", int(longest) + 1),),
        ),
    )


RULE = Rule(
    id="PL102",
    name="readiness-timeout-below-dependency",
    severity="warning",
    summary="The readiness probe waits less for a dependency than the dependency may need for its answer.",
    why="""
A second is the default, and a database that answers in milliseconds makes it look like plenty. But a garbage
collection, a network that is full for a moment or a heavy query elsewhere makes the same database answer in two
seconds. Clients would not even notice. The probe does, in all replicas at once, and the Service is empty.

The rule needs the setting `dependency-max`, the longest time in which the dependency answers. Without it, PL101 and
PL104 speak of the dependency alone: a timeout of one second is no finding by itself.
""",
    formula="T <= the dependency's longest answer; unready after (F - 1) x p to F x max(p, T) + T",
    source=(
        "Breck, Readiness: set the readiness-probe timeout longer than the maximum response time for that dependency",
        "https://github.com/yetone/cumora/pull/276",
    ),
    fix="""
Set timeoutSeconds above the longest answer that the dependency gives on a bad day, and the period with it.
""",
    settings=Settings(dependency_max=5),
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       readinessProbe:
         httpGet: {path: /health/dependencies, port: 8080}
         periodSeconds: 10
+        timeoutSeconds: 8
""",
    scenario="dependency-slow",
    check=on_probes(check, "readiness"),
    confidence="heuristic",
)
