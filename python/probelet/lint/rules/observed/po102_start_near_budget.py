"""PO102: a start has used most of the time that it may take."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.observed.container import ObservedContainer
from probelet.lint.rule import Hit, Rule, on_containers
from probelet.lint.settings import Settings
from probelet.lint.world.container import LintContainer

WARN: Final = 0.5
ERROR: Final = 0.8


def check(container: LintContainer) -> Iterator[Hit]:
    """Compares the longest start with the guaranteed budget."""
    starts = [row.start for row in container.observed if row.start is not None]
    budget = container.startup_budget
    if not starts or budget is None or not budget.earliest:
        return
    longest = max(starts)
    if longest <= WARN * budget.earliest:
        return
    killer = container.startup or container.liveness
    assert killer is not None  # A container with a budget has a probe that kills it.
    yield killer.hit(
        "failureThreshold",
        f"a start has taken {longest:g} s, which is {longest / budget.earliest:.0%} of the {budget.earliest} s after "
        "which a container that has not succeeded may be killed; starts become longer with load and data",
        severity="error" if longest > ERROR * budget.earliest else "warning",
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

The budget is the time that every start may take for sure, as `probelet explain` says it.
""",
    formula="longest start > 0.5 x budget: a warning; > 0.8 x budget: an error; budget = d + (F - 1) x p",
    source=("Breck, Liveness: set initialDelaySeconds conservatively",),
    fix="A larger failureThreshold of the startup probe costs nothing while starts are fast.",
    settings=Settings(observed=(ObservedContainer("default", "web-5d4f-x", "web", start=50),)),
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
          startupProbe:
            httpGet: {path: /livez, port: 8080}
            failureThreshold: 7
          livenessProbe:
            httpGet: {path: /livez, port: 8080}
            failureThreshold: 6
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
          startupProbe:
            httpGet: {path: /livez, port: 8080}
            failureThreshold: 30
          livenessProbe:
            httpGet: {path: /livez, port: 8080}
            failureThreshold: 6
""",
    check=on_containers(check),
)
