"""PO104: replicas fail their readiness together, and for the same reason."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from probelet.lint.observed.container import ObservedContainer, ObservedProbe
from probelet.lint.rule import Hit, Rule, on_probes
from probelet.lint.settings import Settings
from probelet.lint.world.probe import LintProbe

SHARE: Final = 0.5


def check(probe: LintProbe) -> Iterator[Hit]:
    """Counts the replicas that are unready with one cause at the moment of the observation."""
    rows = [row for row in probe.observed if row.result]
    causes = Counter(row.cause for row in rows if row.result == "Failure" and row.cause)
    if len(rows) < 2 or not causes:
        return
    cause, count = causes.most_common(1)[0]
    if count >= 2 and count >= SHARE * len(rows):
        yield probe.hit(
            "",
            f"{count} of {len(rows)} replicas fail their readiness at one moment with the cause {cause}: they depend "
            "on something that they share, and all of them may leave the Service at once",
        )


_FAILING = ObservedProbe(runs=90, failures=9, result="Failure", cause="header_timeout")
_READY = ObservedProbe(runs=90, result="Success")

RULE = Rule(
    id="PO104",
    name="failing-together",
    severity="warning",
    summary="At least half of the replicas are unready at one moment, with the same cause.",
    why="""
Replicas are there so that one of them may fail. If they fail together, the reason is something that they share, such
as a database or a service that their readiness asks; then the probe turns a slow dependency into an outage, because a
Service without endpoints answers nothing.

PL101 and PL104 suspect this from names; here it was seen.
""",
    formula="unready replicas with one cause >= 0.5 x replicas, and at least 2",
    source=("Breck, Shooting yourself in the foot with readiness probes",),
    fix="Ask in readiness for what the replica alone can mend, or give the probe more time than the dependency needs.",
    settings=Settings(
        observed=(
            ObservedContainer("default", "web-5d4f-x", "web", {"readiness": _FAILING, "liveness": _READY}),
            ObservedContainer("default", "web-5d4f-y", "web", {"readiness": _FAILING, "liveness": _READY}),
        )
    ),
    bad="""
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
          readinessProbe:
            httpGet: {path: /readyz, port: 8080}
""",
    good="""
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
          livenessProbe:
            httpGet: {path: /livez, port: 8080}
            failureThreshold: 6
""",
    check=on_probes(check, "readiness"),
)
