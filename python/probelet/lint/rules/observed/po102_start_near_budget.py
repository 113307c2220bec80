"""PO102: a start has used most of the time that it may take."""

from collections.abc import Iterator
from typing import Final

from probelet.base.words import seconds
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer, LintProbe
from probelet.lint.observed.container import ObservedContainer, Start
from probelet.lint.observed.trend import rising
from probelet.lint.rule import Rule, on_containers
from probelet.lint.settings import Settings

WARN: Final = 0.5
ERROR: Final = 0.8
AHEAD: Final = 90
"""Days within which a trend has to reach the budget."""
_DAY: Final = 24 * 3600
"""The least seconds from the first to the last start of a trend: starts within an hour say nothing about a day."""
GLIMPSE: Final = 120
"""Seconds; in an observation that is shorter, one start may be the one that somebody tried out."""


def check(container: LintContainer) -> Iterator[Hit]:
    """Compares the longest start with the guaranteed budget."""
    starts = [start for row in container.observed if not _is_glimpse(row) for start in row.starts]
    budget = container.startup_budget
    if not starts or budget is None or not budget.earliest:
        return
    killer = container.killer
    assert killer is not None  # A container with a budget has a probe that kills it.
    longest = max(start.took for start in starts)
    if longest <= WARN * budget.earliest:
        yield from _drift(killer, starts, budget.earliest)
        return
    yield killer.hit(
        "failureThreshold",
        f"a start has taken {seconds(longest)}, which is {longest / budget.earliest:.0%} of the {budget.earliest} s "
        "after which a container that has not succeeded may be killed; starts become longer with load and data",
        severity="error" if longest > ERROR * budget.earliest else "warning",
        said_by=("PO115",),
    )


def _is_glimpse(row: ObservedContainer) -> bool:
    return len(row.starts) == 1 and row.span is not None and row.span < GLIMPSE


def _drift(killer: LintProbe, starts: list[Start], budget: int) -> Iterator[Hit]:
    """Starts that are short enough today and become longer."""
    if max(start.at for start in starts) - min(start.at for start in starts) < _DAY:
        return
    trend = rising([(start.at / _DAY, start.took) for start in starts])
    if trend is None:
        return
    days = (budget - trend.latest) / trend.slope
    if days < AHEAD:
        yield killer.hit(
            "failureThreshold",
            f"{len(starts)} starts became longer by {seconds(trend.slope)} a day: at this rate one takes the "
            f"{budget} s after which a container that has not succeeded may be killed in {max(days, 0):.0f} days",
        )


RULE = Rule(
    id="PO102",
    name="start-near-budget",
    severity="warning",
    summary="The longest start has used more than half of the start-up budget.",
    why="""
Starts drift: more data to load, a slower network, a smaller share of the node. Nobody notices while pods run, and the
day on which a node fails is the day on which all of them start at once. When a start needs more than the budget, the
container is killed before it is up, again and again.

The budget is the time that every start may take for sure, as `probelet explain` says it. With eight starts or more,
over a day or more, the rule also looks for a trend: the slope is Theil and Sen's, which one odd start does not change,
and it counts if Mann and Kendall's test finds it with a probability of error below 5 %. One start in an observation of
less than two minutes counts for nothing.
""",
    formula="longest start > 0.5 x budget, or a trend that reaches it within 90 days: a warning; longest start > 0.8 x "
    "budget: an error; budget = d + (F - 1) x p",
    source=("Breck, Liveness: set initialDelaySeconds conservatively",),
    fix="A larger failureThreshold of the startup probe costs nothing while starts are fast.",
    settings=Settings(observed=(ObservedContainer("default", "web-5d4f-x", "web", starts=(Start(0, 50),)),)),
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
