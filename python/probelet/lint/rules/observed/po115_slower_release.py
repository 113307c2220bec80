"""PO115: starts or answers take longer with the newest release than with the one before."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from probelet.lint.finding import Hit, Severity
from probelet.lint.model.workload import LintContainer
from probelet.lint.observed.container import ObservedContainer, Start
from probelet.lint.rule import Rule, on_containers
from probelet.lint.settings import Settings
from probelet.policy.drift import Compared, compare, rise
from probelet.spec.model.probe import ProbeType

ERROR: Final = 0.8
"""The share of the limit from which on it is an error, as for a start or an answer without a release to blame."""


def check(container: LintContainer) -> Iterator[Hit]:
    """Compares the newest release with the one before it."""
    for (_, before), (release, after) in [*pairwise(_releases(container.observed))][-1:]:
        name = f"image {release}" if after[0].image else release
        budget, killer = container.startup_budget, container.killer
        if budget is not None and killer is not None:
            found = compare(_starts(before), _starts(after), budget.earliest)
            if found is not None:
                yield killer.hit("failureThreshold", rise("starts", found, name, "budget"), severity=_severity(found))
        for probe in container.probes.values():
            found = compare(_slow(before, probe.type), _slow(after, probe.type), probe.timing.timeout)
            if found is not None:
                text = rise(f"{probe.type} answers", found, name, "timeout")
                yield probe.hit("timeoutSeconds", text, severity=_severity(found))


def _releases(rows: list[ObservedContainer]) -> list[tuple[str, list[ObservedContainer]]]:
    """The rows of each release, in the order of their first starts; rows without a start have no place in it."""
    by_name: dict[str, list[ObservedContainer]] = {}
    for row in sorted((row for row in rows if row.starts), key=lambda row: row.starts[0].at):
        by_name.setdefault(row.release, []).append(row)
    return [*by_name.items()]


def _starts(rows: list[ObservedContainer]) -> list[float]:
    return [start.took for row in rows for start in row.starts]


def _slow(rows: list[ObservedContainer], probe_type: ProbeType) -> list[float]:
    """How long slow answers take in each pod."""
    found = (row.probes[probe_type].slow for row in rows if probe_type in row.probes)
    return [each for each in found if each is not None]


def _severity(found: Compared) -> Severity:
    return "error" if found.after > ERROR * found.limit else "warning"


def _row(release: str, number: int, took: float) -> ObservedContainer:
    at = number * 60 + (0 if release == "5d4f" else 86_400)
    return ObservedContainer("default", f"web-{release}-{number}", "web", starts=(Start(at, took + number / 10),))


RULE = Rule(
    id="PO115",
    name="slower-release",
    severity="warning",
    summary="Starts or answers take longer with the newest release, towards their limit.",
    why="""
A release that loads more data or asks one more service starts later, and nobody looks at that as long as it comes up.
The release after it does the same. This rule names the release with which it happened, while rolling back is
still easy.

A release is an image, where the source says it, as recordings do, and Prometheus with `kube_pod_container_info`;
otherwise the pods of one template hash, which stands in the names of a Deployment's pods. The newest two releases with
starts are compared: eight starts of each, or for answers eight pods of each, at the least. Mann and Whitney's test of
their ranks has to find the difference with a probability of error below 0.1 %, the 99th percentile has to rise by a
fifth, and it has to pass half of the limit.
""",
    formula="p99(new) >= 1.2 x p99(old), p99(new) > 0.5 x limit, and ranks that are no chance; limit = d + (F - 1) x p "
    "for starts, T for answers; p99(new) > 0.8 x limit: an error",
    source=("Breck, Liveness: set initialDelaySeconds conservatively",),
    fix="A larger failureThreshold of the startup probe, or a larger timeoutSeconds, until the release is mended.",
    settings=Settings(
        observed=tuple(
            _row(release, number, took) for release, took in (("5d4f", 30), ("77aa", 43)) for number in range(8)
        )
    ),
    example="""
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
   replicas: 2
   selector: {matchLabels: {app: web}}
   template:
     metadata: {labels: {app: web}}
     spec:
       containers:
         - name: web
           image: registry.example/web:1
           startupProbe:
             httpGet: {path: /livez, port: 8080}
-            failureThreshold: 7
+            failureThreshold: 30
           livenessProbe:
             httpGet: {path: /livez, port: 8080}
             failureThreshold: 6
""",
    check=on_containers(check),
)
