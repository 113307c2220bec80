"""PL101: a readiness probe asks more than its own container."""

from collections.abc import Iterator

from probelet.lint.facts.dependency import dependency
from probelet.lint.facts.replicas import all_of_them
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Finds what the probe asks beside its container."""
    found, unready = dependency(probe), probe.bounds.to_unready
    if found is None or unready is None:
        return
    if found.kind == "own service":
        yield probe.hit(found.field, f"readiness asks {found.what}: {_own_service(probe)}")
        return
    consequence = (
        f"takes {all_of_them(probe.container.workload)} out of service within {unready.earliest} to "
        f"{unready.latest} s, also for requests that do not need it"
    )
    yield probe.hit(
        found.field,
        f"readiness {found.fails(consequence)}",
        severity="info" if found.kind == "whole" else None,
        confidence=found.confidence,
        said_by=("PL104",),
    )


def _own_service(probe: LintProbe) -> str:
    if any(not service.spec.publish_not_ready_addresses for service in probe.container.workload.services):
        return "it has no endpoint before one of them is ready, so after a cold start none of them gets ready"
    return "the answer may come from another replica, and says nothing about this one"


RULE = Rule(
    id="PL101",
    name="readiness-depends-on-shared",
    severity="warning",
    summary="The readiness probe asks something that other pods share, such as a database.",
    why="""
A readiness probe runs for the whole life of a container, not only at its start. If it asks a database, a broker or
another service, then every replica asks the same one. A slow minute there fails the probes of all replicas at the same
time, the Service loses every endpoint, and clients get errors also for requests that would have worked, or that would
only have been slow.

Asking is right where each pod has a dependency of its own, and where a pod without it can do nothing at all. Then be
slow to fail: a timeout above the longest answer of the dependency, and a higher failureThreshold.

The rule knows hosts in `host`, in the arguments of clients such as psql, redis-cli or curl, and in the variables that
they use. A path such as `/health/deep` or `/actuator/health` is a guess, and the finding says so (confidence
`heuristic`).
""",
    formula="(F - 1) x p to F x max(p, T) + T after the dependency's failure",
    source=(
        "Breck, Readiness: the server with dependencies",
        "https://github.com/yetone/cumora/pull/276",
        "https://github.com/redpanda-data/redpanda-operator/issues/382",
        "https://github.com/mozilla/kitsune/pull/3421",
    ),
    fix="""
Answer from what the container itself knows: it has loaded its data and accepts requests. Let requests that need the
dependency fail on their own, or be slow.
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
-        exec:
-          command: [pg_isready, -h, orders-db, -U, web]
+        httpGet: {path: /readyz, port: 8080}
""",
    scenario="dependency-slow",
    check=on_probes(check, "readiness"),
)
