"""The pods, most of them from the comparison with ``run``, their Services, and the Deployment."""

from copy import deepcopy

from tests.kubelet.beside.pods import PODS as ALL
from tests.kubelet.beside.pods.make import Object, answers, container, pod

NAMES = (
    *("readiness-turns", "readiness-twice", "answer-too-late", "initial-delays", "tcp", "grpc"),
    *("liveness-http", "liveness-exec", "grace-of-a-probe", "prestop-exec"),
    *("startup-slow", "startup-never", "sidecars", "removed-slow"),
)
TOO_LATE, IN_AND_OUT = "answer-too-late", "in-and-out"
"""The second one turns unready every six seconds, for the time from a failure to the endpoint's absence."""


def with_startup(thing: Object) -> Object:
    """The pod with a startup probe that passes at once."""
    thing = deepcopy(thing)
    thing["spec"]["containers"][0]["startupProbe"] = answers("s", "200")
    return thing


TURNS = ",".join(["200x3", "500x3"] * 12)
PODS = {
    IN_AND_OUT: pod(IN_AND_OUT, container(readinessProbe=answers("r", TURNS, failureThreshold=1))),
    **{name: ALL[name] for name in NAMES},
    # Its answers are few: the startup probe that the webhook makes of a readiness probe would take one of them.
    TOO_LATE: with_startup(ALL[TOO_LATE]),
}
REMOVED = ("sidecars", "removed-slow")
"""The comparison deletes them while they run."""

RESTARTED = ("tcp", "liveness-http", "liveness-exec", "grace-of-a-probe", "prestop-exec", "startup-never", "sidecars")
"""Pods whose probes kill a container."""

MANAGED = {"probelet.dev/managed": "true"}
"""The label that asks for a pod's probes to be taken over."""

DEPLOYMENT, REPLICAS = "rollout", 2
SLOW_START = answers("r", "500x3,200")


def of_side(thing: Object, *, taken: bool) -> Object:
    """The pod, or the template of a Deployment, as one side creates it."""
    thing = deepcopy(thing)
    if taken:
        owner = thing["spec"]["template"] if thing["kind"] == "Deployment" else thing
        owner["metadata"]["labels"] |= MANAGED
    return thing


def service(name: str) -> Object:
    """A Service for the pods with this label; nothing proxies it, but its endpoints are those of a real one."""
    ports = [{"port": 80, "targetPort": 8080}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": ports},
    }


def deployment() -> Object:
    """A Deployment that replaces one pod after another, each only when the one before it is ready."""
    labels = {"app": DEPLOYMENT}
    spec = {"containers": [container(readinessProbe=SLOW_START)], "terminationGracePeriodSeconds": 5}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": DEPLOYMENT},
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": labels},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


CHANGE = {"spec": {"template": {"metadata": {"annotations": {"change": "1"}}}}}
"""A patch of the Deployment that makes it roll."""
