"""PO110: a container restarts so often that its waits and starts are a part of every day."""

from collections.abc import Iterator
from typing import Final

from probelet.base.words import seconds
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer
from probelet.lint.observed.container import ObservedContainer, Run
from probelet.lint.observed.outage import HOUR
from probelet.lint.rule import Rule, on_containers
from probelet.lint.settings import Settings
from probelet.spec.text.duration import SECOND

RESTARTS_MIN: Final = 3
OFTEN: Final = 6 * HOUR
"""Restarts that come more often than this, in seconds, are no rare accident."""
SHARE: Final = 0.1
"""Of the time that was observed."""


def check(container: LintContainer) -> Iterator[Hit]:
    """Looks for the replica with the most restarts."""
    rows = [row for row in container.observed if (row.restarts or 0) >= RESTARTS_MIN and row.span]
    if not rows:
        return
    worst = max(rows, key=lambda row: (row.restarts or 0) / (row.span or 1))
    count, span = worst.restarts or 0, worst.span or 1
    if span / count >= OFTEN:
        return
    lost = sum(worst.waits)
    yield container.hit(
        "",
        f"{worst.pod} restarted {count} times in {seconds(span)}, once in {seconds(span / count)}"
        + _killed(worst)
        + (_waited(worst, lost, span) if lost >= SHARE * span else ""),
    )


def _killed(row: ObservedContainer) -> str:
    ended = [run for run in row.lives if run.end is not None]
    return f"; a probe ended {sum(run.killed for run in ended)} of these {len(ended)} runs" if ended else ""


def _waited(row: ObservedContainer, lost: float, span: float) -> str:
    """The time in back-off, and what it would be with the reduced curve of KEP-4603."""
    # Few runs have such an observation, and the model is a part of the start of every run.
    from probelet.lab.backoff.curve import REDUCED
    from probelet.lab.backoff.life import Life, restarts

    runs = [run.end - run.begin for run in row.lives if run.end is not None]
    life = Life(run_ns=int(sum(runs) / len(runs) * SECOND))
    instead = sum(each.delay_ns for each in restarts(REDUCED, life, count=len(row.waits))) / SECOND
    return (
        f"; it waited {seconds(lost)} for its starts, which is {lost / span:.0%} of that time, and with the gate "
        f"ReduceDefaultCrashLoopBackOffDecay it would have been about {seconds(instead)}"
    )


_RUNS = tuple(Run(400 * number, 400 * number + 120, killed=True) for number in range(9))

RULE = Rule(
    id="PO110",
    name="restarts-cost-time",
    severity="warning",
    summary="A replica restarts every few hours or more often; with a recording, what that costs.",
    why="""
A restart now and then is what liveness is for. Several a day are a way of working: each one costs the requests in
flight, the time of a start, cold caches, and after some of them the back-off of up to five minutes, in which the
replica is not there at all. Because the pod comes back each time, nobody looks.

A recording tells how many of the runs a probe ended and how long the container waited for its starts. The time with
another back-off is the model of `probelet backoff` for runs of the same average length; restarts cost the node more
then, and mend nothing.
""",
    formula="at least 3 restarts, and on average less than 6 h between them",
    source=(
        "KEP-4603",
        "https://github.com/kubernetes/kubernetes/issues/57291",
        "Breck, Liveness: killed and restarted, repeatedly",
    ),
    fix="`kubectl logs --previous` has the last words of the run before; a long start needs a startup probe.",
    settings=Settings(
        observed=(ObservedContainer("default", "web-5d4f-x", "web", restarts=8, span=HOUR, lives=_RUNS),),
    ),
    example="""
-apiVersion: apps/v1
-kind: Deployment
+apiVersion: batch/v1
+kind: Job
 metadata: {name: web}
 spec:
-  replicas: 2
-  selector: {matchLabels: {app: web}}
   template:
-    metadata: {labels: {app: web}}
     spec:
+      restartPolicy: OnFailure
       containers:
         - name: web
           image: registry.example/web:1
-          livenessProbe:
-            httpGet: {path: /livez, port: 8080}
-            failureThreshold: 6
""",
    check=on_containers(check),
)
