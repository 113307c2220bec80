"""PO105: readiness changes its mind several times an hour."""

from collections.abc import Iterator

from probelet.base.words import seconds
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer
from probelet.lint.observed.container import ObservedContainer, ObservedProbe
from probelet.lint.observed.outage import HOUR, Outage, changes, is_flapping
from probelet.lint.rule import Rule, on_containers
from probelet.lint.settings import Settings


def check(container: LintContainer) -> Iterator[Hit]:
    """Looks for the replica that changed most often."""
    readiness, found = container.readiness, [row for row in container.observed if _is_flapping(row)]
    if readiness is None or not found:
        return
    worst = max(found, key=_changes)
    calm, threshold = worst.probes["readiness"].calm, readiness.timing.failures
    if calm is not None and calm <= threshold:
        # The recording is older than the manifest, which has the remedy.
        return
    if calm is None:
        remedy = "no failureThreshold up to 30 would have kept it ready, so these are real outages"
    else:
        remedy = f"with failureThreshold {calm} in place of {threshold} it would have stayed ready all the time"
    yield readiness.hit(
        "failureThreshold",
        f"{worst.pod} became unready or ready again {_changes(worst)} times in {seconds(worst.span or 0)}: "
        f"{remedy} (a play of the recording)",
    )


def _is_flapping(row: ObservedContainer) -> bool:
    probe = row.probes.get("readiness")
    return probe is not None and row.span is not None and is_flapping(probe.outages, row.span)


def _changes(row: ObservedContainer) -> int:
    return changes(row.probes["readiness"].outages)


_OUTAGES = tuple(Outage(600 * number, 600 * number + 30, "header_timeout") for number in range(4))

RULE = Rule(
    id="PO105",
    name="flapping",
    severity="warning",
    summary="A container becomes unready and ready again several times an hour.",
    why="""
Each change takes a pod out of its Services or puts it back: connections move, load moves to the other replicas, and a
roll-out that waits for ready pods starts to wait again. Where the failures are short, such as a garbage collection or
a backup, a higher failureThreshold hides them and costs nothing but some seconds at a real outage.

The recording is played with other thresholds, through the same prober, until the smallest one is found with which the
container would have stayed ready. If there is none, the threshold is not the problem. A status or an answer of
Prometheus has no changes; this needs a recording of the flight recorder.
""",
    formula="changes > 3 in an hour; at least an hour counts",
    source=(
        "Breck, Readiness: be conservative with the failureThreshold",
        "docs/whatif.md",
    ),
    fix="The failureThreshold of the message, or the reason of the failures, which `probelet events` names.",
    settings=Settings(
        observed=(
            ObservedContainer(
                "default",
                "web-5d4f-x",
                "web",
                {"readiness": ObservedProbe(runs=360, failures=24, outages=_OUTAGES, calm=7)},
                span=HOUR,
            ),
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
           readinessProbe:
             httpGet: {path: /readyz, port: 8080}
+            failureThreshold: 7
""",
    check=on_containers(check),
)
