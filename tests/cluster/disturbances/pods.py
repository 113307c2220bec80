"""The pods that are in the namespace while something goes wrong, and how each has to look whatever that is."""

from tests.cluster.fifteen.pods import MANAGED
from tests.kubelet.beside.pods.make import Object, answers, command, container, pod

GOOD_ANSWERS, FAILED_ANSWERS = 6, 2
"""A failing container gets so many good answers to its liveness probe in each life, then only bad ones; the second bad
one is a failure."""
HOOK_MS = 1500

STEADY = ("steady-1", "steady-2")
FAILING = ("failing-1", "failing-2")
TURNS = "200x6,500x6,200x6,500x6,200"
TURNING, STARTING = "turning", "starting"
NAMES = (*STEADY, *FAILING, TURNING, STARTING)


def all_pods() -> list[Object]:
    return [
        *(steady(name) for name in STEADY),
        *(failing(name) for name in FAILING),
        managed(pod(TURNING, container(readinessProbe=answers("r", TURNS, failureThreshold=1)))),
        starting(STARTING),
    ]


def steady(name: str) -> Object:
    """A pod whose container must live, and stay ready."""
    good = answers("l", "200", failureThreshold=2)
    return managed(
        pod(name, container(livenessProbe=good, readinessProbe=answers("r", "200"), startupProbe=answers("s", "200")))
    )


def failing(name: str) -> Object:
    """A pod whose container has to be killed once in each life, with its hook once."""
    row = f"200x{GOOD_ANSWERS},500"
    app = container(
        "--term",
        "300",
        livenessProbe=answers("l", row, failureThreshold=FAILED_ANSWERS),
        lifecycle={"preStop": command("hook", f"0@{HOOK_MS}")},
    )
    return managed(pod(name, app, terminationGracePeriodSeconds=10))


def starting(name: str) -> Object:
    """A pod whose container does not come out of its start-up, so that it must never be ready."""
    endless = answers("s", "500", failureThreshold=1000)
    return managed(pod(name, container(startupProbe=endless, readinessProbe=answers("r", "200"))))


def managed(thing: Object) -> Object:
    """The pod with the label that asks for its probes to be taken over."""
    thing["metadata"]["labels"] |= MANAGED
    return thing
