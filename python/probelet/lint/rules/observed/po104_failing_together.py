"""PO104: replicas fail their readiness together, and for the same reason."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.observed.container import ObservedContainer, ObservedProbe
from probelet.lint.rule import Rule, on_probes
from probelet.lint.settings import Settings

SHARE: Final = 0.5


def check(probe: LintProbe) -> Iterator[Hit]:
    """Counts the replicas that are unready with one cause now, or that became so within a period of each other."""
    rows = probe.container.observed
    now = {row.pod: row.probes["readiness"] for row in rows if "readiness" in row.probes}
    causes = Counter(row.cause for row in now.values() if row.result == "Failure" and row.cause)
    replicas = sum(bool(row.result or row.outages) for row in now.values())
    cause, count = causes.most_common(1)[0] if causes else ("", 0)
    when = "fail their readiness at one moment"
    recorded = max(_together(now, probe.timing.period), default=(0, ""))
    if recorded[0] > count:
        count, cause = recorded
        when = f"became unready within {probe.timing.period} s of each other"
    if count >= 2 and count >= SHARE * replicas:
        yield probe.hit(
            "",
            f"{count} of {replicas} replicas {when} with the cause {cause}: they depend on something that they share, "
            "and all of them may leave the Service at once",
        )


def _together(rows: Mapping[str, ObservedProbe], period: int) -> Iterator[tuple[int, str]]:
    """For each outage: how many replicas had one with its cause that began in the period from its beginning on."""
    for first in (outage for row in rows.values() for outage in row.outages if outage.cause):
        near = (
            any(each.cause == first.cause and 0 <= each.begin - first.begin <= period for each in row.outages)
            for row in rows.values()
        )
        yield sum(near), first.cause


_FAILING = ObservedProbe(runs=90, failures=9, result="Failure", cause="header_timeout")
_READY = ObservedProbe(runs=90, result="Success")

RULE = Rule(
    id="PO104",
    name="failing-together",
    severity="warning",
    summary="At least half of the replicas are unready, or became so, at one moment and with the same cause.",
    why="""
Replicas are there so that one of them may fail. If they fail together, the reason is something that they share, such
as a database or a service that their readiness asks; then the probe turns a slow dependency into an outage, because a
Service without endpoints answers nothing.

PL101 and PL104 suspect this from names; here it was seen: in a status, at its moment; in recordings, whenever it
happened. A recording has the pods of one node, and `--observed` takes those of several nodes.
""",
    formula="replicas that became unready with one cause within p >= 0.5 x replicas, and at least 2",
    source=("Breck, Shooting yourself in the foot with readiness probes",),
    fix="Ask in readiness for what the replica alone can mend, or give the probe more time than the dependency needs.",
    settings=Settings(
        observed=(
            ObservedContainer("default", "web-5d4f-x", "web", {"readiness": _FAILING, "liveness": _READY}),
            ObservedContainer("default", "web-5d4f-y", "web", {"readiness": _FAILING, "liveness": _READY}),
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
-          readinessProbe:
-            httpGet: {path: /readyz, port: 8080}
+          livenessProbe:
+            httpGet: {path: /livez, port: 8080}
+            failureThreshold: 6
""",
    check=on_probes(check, "readiness"),
)
