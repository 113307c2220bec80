"""PL403: a field is 0, which means its default."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.change import Fix, Set
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe, LintWorkload
from probelet.lint.rule import Rule, on_workloads
from probelet.spec.read.kinds import KINDS

_DEFAULTS: Final = {
    "timeoutSeconds": ("timeout_seconds", 1),
    "periodSeconds": ("period_seconds", 10),
    "successThreshold": ("success_threshold", 1),
    "failureThreshold": ("failure_threshold", 3),
}
"""The field in the text -> its name here, and its default."""


def check(workload: LintWorkload) -> Iterator[Hit]:
    """Looks for zeros in the text: the probes of a workload have their defaults already."""
    suspects = [(probe, field) for probe, field in _fields(workload) if _has_default(probe, field)]
    if not suspects:
        return
    pod = KINDS[workload.kind].pod(workload.object)
    written = {f"{workload.in_pod(path)}": probe for path, probe in pod.spec.each_probe()}
    for probe, field in suspects:
        name, default = _DEFAULTS[field]
        if getattr(written[probe.path], name) == 0:
            yield probe.hit(
                field,
                f"{field} 0 means the default, which is {default}: {_meaning(probe, field)}",
                severity="info" if field == "successThreshold" else None,
                fix=Fix(
                    f"write {field}: {default}, which does the same",
                    (Set(f"{probe.path}.{field}", default),),
                    is_safe=True,
                ),
            )


def _fields(workload: LintWorkload) -> Iterator[tuple[LintProbe, str]]:
    for container in workload.probed:
        for probe in container.probes.values():
            yield from ((probe, field) for field in _DEFAULTS if probe.is_written(field))


def _has_default(probe: LintProbe, field: str) -> bool:
    name, default = _DEFAULTS[field]
    return bool(getattr(probe.spec, name) == default)


def _meaning(probe: LintProbe, field: str) -> str:
    timing = probe.timing
    match field:
        case "timeoutSeconds":
            return f"an attempt fails after {timing.timeout} s, and is not without a limit"
        case "periodSeconds":
            return f"an attempt begins every {timing.period} s"
        case "failureThreshold":
            return f"{timing.failures} failures in a row decide; there is no value that lets a probe never decide"
        case _:
            return f"{timing.successes} success decides"


RULE = Rule(
    id="PL403",
    name="explicit-zero",
    severity="warning",
    summary="A field of the probe is 0, which the API server takes for absent.",
    why="""
The API server cannot tell a 0 from a field that is absent, and puts the default in: 10 s for the period, 1 s for the
timeout, 3 for the failureThreshold. Most authors of `timeoutSeconds: 0` want no limit, and get the shortest one there
is. `failureThreshold: 0` does not turn a probe off.
""",
    source=("kubernetes/pkg/apis/core/v1/defaults.go: SetDefaults_Probe, 1.36",),
    fix="""
Write the number that you mean. `--fix` writes the one that is in force now.
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
-        timeoutSeconds: 0
+        timeoutSeconds: 1
""",
    check=on_workloads(check),
)
