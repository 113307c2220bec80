"""PO109: the command of an exec probe runs for a good part of the time."""

from collections.abc import Iterator
from typing import Final

from probelet.base.words import seconds
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.observed.container import ObservedContainer, ObservedProbe
from probelet.lint.rule import Rule, on_probes
from probelet.lint.settings import Settings

SHARE: Final = 0.1
"""Of a period."""
ATTEMPTS_MIN: Final = 20
"""An average of fewer attempts may be chance."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the average time of the command with the period."""
    rows = [row for row in probe.observed if row.mean is not None and row.attempts >= ATTEMPTS_MIN]
    if probe.handler != "exec" or not rows:
        return
    period = probe.timing.period
    shares = [(row.mean or 0) / period for row in rows]
    worst = max(rows, key=lambda row: row.mean or 0)
    mean = worst.mean or 0
    if mean >= SHARE * period:
        yield probe.hit(
            "exec",
            f"the command takes {seconds(mean)} on average and starts every {period} s, so it runs {mean / period:.0%} "
            f"of the time; the {len(rows)} replicas that were seen keep {sum(shares):.2g} such processes running at "
            f"any moment, beside what a runtime needs to start each of them",
        )


RULE = Rule(
    id="PO109",
    name="command-runs-long",
    severity="info",
    summary="The command of an exec probe runs for a tenth of the time or more.",
    why="""
An exec probe is a new process in the container at each period, and the runtime starts some more around it. Most of them
end within some ten milliseconds. One that runs for a tenth of its period or longer is a load like a small service of
its own, in every replica and for the whole life of the pod, and it counts against the container's own limits.

The figure is time and not CPU: a command that waits costs memory and a place among the processes, one that calculates
costs CPU as well. How much CPU the commands of a node take no metric of a kubelet says.
""",
    formula="average time of the command >= 0.1 x p, with at least 20 attempts",
    source=("https://github.com/kubernetes/kubernetes/issues/82440",),
    fix="An httpGet, tcpSocket or grpc probe needs no process; else a longer period.",
    settings=Settings(
        observed=(
            ObservedContainer(
                "default", "web-5d4f-x", "web", {"liveness": ObservedProbe(runs=90, mean=1.4, attempts=90)}
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
           livenessProbe:
             exec: {command: [nodetool, status]}
             failureThreshold: 6
+            periodSeconds: 60
             timeoutSeconds: 5
""",
    check=on_probes(check),
)
