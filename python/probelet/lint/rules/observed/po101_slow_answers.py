"""PO101: attempts take nearly as long as they may."""

from collections.abc import Iterator
from typing import Final

from probelet.base.words import seconds
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.observed.container import ObservedContainer, ObservedProbe
from probelet.lint.rule import Rule, on_probes
from probelet.lint.settings import Settings

WARN: Final = 0.5
ERROR: Final = 0.8
ATTEMPTS_MIN: Final = 100
"""A single slow attempt may be chance: fewer attempts than these are no error."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the slowest replica with the timeout."""
    seen = [row for row in probe.observed if row.slow is not None]
    if not seen:
        return
    slowest = max(seen, key=lambda row: row.slow or 0)
    slow, timeout = slowest.slow or 0, probe.timing.timeout
    if slow < WARN * timeout:
        return
    if slowest.attempts == 1:
        what = f"an attempt took {seconds(slow)}"
    else:
        what = f"99 of 100 attempts ({slowest.attempts} were seen) end within {seconds(slow)}"
    if slow < timeout:
        what += f", which is {slow / timeout:.0%} of the timeout of {timeout} s; a little more load and "
    else:
        what += f", and the timeout is {timeout} s: the slowest are failures already, and "
    yield probe.hit(
        "timeoutSeconds",
        f"{what}{probe.timing.failures} of them in a row are enough for a verdict",
        severity="error" if slow >= ERROR * timeout and slowest.attempts >= ATTEMPTS_MIN else "warning",
        said_by=("PO115",),
    )


def _seen(slow: float, attempts: int) -> Settings:
    probe = ObservedProbe(runs=attempts, slow=slow, attempts=attempts)
    return Settings(observed=(ObservedContainer("default", "web-5d4f-x", "web", {"liveness": probe}),))


RULE = Rule(
    id="PO101",
    name="slow-answers",
    severity="warning",
    summary="Attempts take more than half of their timeout.",
    why="""
Latencies grow with load, and a timeout that is only just long enough today turns into failures on the day with the
most requests. A liveness probe then restarts containers that were merely slow, and the others get their load.

The figure is the 99th percentile of the slowest replica, from a histogram of attempts, or the one attempt that a
status shows. A kubelet's histogram has no attempts that failed, so the truth may be worse.
""",
    formula="p99 of attempts > 0.5 x T: a warning; > 0.8 x T with at least 100 attempts: an error",
    source=("Breck, Liveness: a timeout on the order of client timeouts",),
    fix="Give the probe a timeout of at least twice what its slow attempts take, or ask for something cheaper.",
    settings=_seen(0.9, 500),
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
             httpGet: {path: /livez, port: 8080}
             failureThreshold: 6
+            timeoutSeconds: 5
""",
    check=on_probes(check),
)
