"""PL201: a liveness probe asks more than its own container."""

from collections.abc import Iterator

from probelet.lint.facts.dependency import Dependency, dependency
from probelet.lint.facts.replicas import all_of_them
from probelet.lint.finding import Hit, Severity
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Finds what the probe asks beside its container."""
    found, kill = dependency(probe), probe.bounds.to_kill
    if found is None or kill is None:
        return
    consequence = (
        f"kills {all_of_them(probe.container.workload)} within {kill.earliest} to {kill.latest} s, and again after "
        "every restart, which mends nothing there"
    )
    yield probe.hit(
        found.field,
        f"liveness {found.fails(consequence)}",
        severity=_severity(found),
        confidence=found.confidence,
    )


def _severity(found: Dependency) -> Severity:
    return "info" if found.kind == "whole" else "warning" if found.is_guess else "error"


RULE = Rule(
    id="PL201",
    name="liveness-checks-dependency",
    severity="error",
    summary="The liveness probe asks something outside its container, which a restart cannot mend.",
    why="""
A liveness probe is a question with one answer: does a restart of this container help? If the database is away, it does
not. But every container that asks the database is killed, all of them within one detection time, and loses its caches,
its connections and the requests it was serving. When the database is back, it meets a crowd of cold starts, and the
containers wait in CrashLoopBackOff for up to five minutes more.

The finding is an error where the manifest names another host, in `host` or in the arguments of a client such as curl,
psql or kubectl. The own Service counts as another host: another replica may answer. A name such as `/healthz?full=true`
or `/actuator/health` is a guess and a warning.
""",
    formula="killed (F - 1) x p to F x max(p, T) + T after the dependency's failure",
    source=(
        "Breck, Liveness: avoid checking dependencies in liveness probes",
        "https://github.com/civitai/civitai/pull/2278",
        "https://github.com/redhat-data-and-ai/template-agent/issues/224",
        "https://github.com/pawtograder/platform/pull/946",
    ),
    fix="""
Ask the process itself, with as little of its code as possible: an endpoint that answers 200 from the same threads that
serve requests. Spring has `/actuator/health/liveness` for it.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: worker}
 spec:
   containers:
     - name: worker
       image: registry.example/worker:1
       livenessProbe:
-        exec:
-          command: [sh, -c, "curl -sf http://billing.shop.svc:8080/healthz"]
+        httpGet: {path: /livez, port: 8080}
""",
    check=on_probes(check, "liveness"),
)
