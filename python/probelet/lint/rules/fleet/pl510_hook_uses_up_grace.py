"""PL510: a preStop hook takes the whole grace period of a kill."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.command.shell import program
from probelet.lint.command.statements import statements
from probelet.lint.finding import Hit
from probelet.lint.model.command_bound import bounded
from probelet.lint.model.workload import LintContainer
from probelet.lint.rule import Rule, on_containers

LEFT: Final = 2
"""Seconds that the kubelet leaves between SIGTERM and SIGKILL when a hook has used up the rest."""

SECONDS_DIGITS_MAX: Final = 12
"""Digits of the seconds that are read."""


def check(container: LintContainer) -> Iterator[Hit]:
    """Compares what a hook sleeps with the grace period of each kind of kill."""
    slept = _slept(container)
    grace = container.workload.pod.spec.termination_grace_period_seconds or 0
    if not slept:
        return
    for probe in (container.liveness, container.startup):
        own = None if probe is None else probe.spec.termination_grace_period_seconds
        if probe is not None and own is not None and slept >= own:
            yield probe.hit(
                "terminationGracePeriodSeconds",
                f"preStop sleeps {slept} s, and the probe's kill has a grace period of {own} s: {_end(own)}",
            )
    if slept >= grace > 0:
        yield container.hit(
            "lifecycle.preStop",
            f"preStop sleeps {slept} s, and terminationGracePeriodSeconds is {grace}: at each end of the container "
            f"{_end(grace)}",
        )


def _end(grace: int) -> str:
    return f"the hook is cut off after {grace} s, and {LEFT} s later comes SIGKILL, with requests under way"


def _slept(container: LintContainer) -> int:
    """The seconds for which the hook sleeps, as far as the manifest shows it."""
    hook = container.spec.lifecycle.pre_stop if container.spec.lifecycle is not None else None
    if hook is None:
        return 0
    if hook.sleep is not None:
        return hook.sleep.seconds
    found = statements(bounded(hook.exec.command)) if hook.exec is not None else iter(())
    values = (words[1] for words in found if program(words) == "sleep" and words[1:2] and words[1].isdecimal())
    # Python makes no number of thousands of digits; a hook that sleeps so long outlasts every grace period.
    return sum(int(value[:SECONDS_DIGITS_MAX]) for value in values)


RULE = Rule(
    id="PL510",
    name="hook-uses-up-grace",
    severity="warning",
    summary="A preStop hook sleeps for the whole grace period, so the server has 2 s for its requests.",
    why="""
A `preStop` hook that sleeps gives the Services time to forget the pod before SIGTERM. Its time is a part of the grace
period. A hook that takes all of it leaves the kubelet's minimum of 2 s between SIGTERM and SIGKILL, and the server
loses the requests that the sleep was to save.

A probe can have a shorter grace period of its own, for containers that hang. The hook runs for its kills as well, and
is then longer than the whole period: nothing in the API compares the two.
""",
    formula="sleep >= g",
    source=(
        "kubernetes/pkg/kubelet/kuberuntime/kuberuntime_container.go: killContainer, minimumGracePeriodInSeconds, 1.36",
        "KEP-2238",
        "https://github.com/kubernetes/kubernetes/issues/107473",
    ),
    fix="""
A grace period that is the hook's sleep and the server's own time to end together.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
-      lifecycle: {preStop: {sleep: {seconds: 15}}}
+      lifecycle: {preStop: {sleep: {seconds: 5}}}
       livenessProbe:
         httpGet: {path: /livez, port: 8080}
         terminationGracePeriodSeconds: 10
""",
    check=on_containers(check),
)
