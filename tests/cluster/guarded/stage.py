"""A namespace with pods that ask for enhanced liveness, and what can be seen of it from outside."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.cluster.cluster import Cluster
from tests.cluster.control_plane.api import Object
from tests.cluster.installed import Installed
from tests.cluster.namespace import Namespace
from tests.kubelet.beside.pods.make import answers, container, pod

OPT_IN = "apps.kruise.io/using-enhanced-liveness"
CONTEXT = "apps.kruise.io/container-probe-context"
REQUESTS = "apps.kruise.io/v1alpha1/containerrecreaterequests"
GOOD_ANSWERS = 4
FAILS = f"200x{GOOD_ANSWERS},500"
"""Each life of a container gets so many good answers, then bad ones only."""
RESTART_SECONDS = 200.0
"""From a failed probe to the new container, on a machine that does other things too."""


def guarded(thing: Object) -> Object:
    """The pod, or the workload with its template, with the annotation that asks for enhanced liveness."""
    owner = thing["spec"].get("template", thing)
    owner["metadata"].setdefault("annotations", {})[OPT_IN] = "true"
    return thing


def failing(name: str) -> Object:
    """A pod whose liveness probe fails in each life of its container."""
    return guarded(pod(name, container("--term", "100", livenessProbe=answers("l", FAILS, failureThreshold=2))))


def steady(name: str) -> Object:
    """A pod that nobody may restart."""
    return guarded(pod(name, container(livenessProbe=answers("l", "200", failureThreshold=2))))


def deployment(name: str, replicas: int, *probes: Object, surge: int = 1) -> Object:
    """A Deployment that asks; ``probes``: its liveness probe, and its readiness probe or none."""
    fields: Object = dict(zip(("livenessProbe", "readinessProbe"), probes, strict=False))
    labels = {"app": name}
    spec = {"containers": [container("--term", "100", **fields)], "terminationGracePeriodSeconds": 5}
    return guarded(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": 0}},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }
    )


def budget(name: str, unavailable: int | str) -> Object:
    spec = {"maxUnavailable": unavailable, "selector": {"matchLabels": {"app": name}}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec}


class Stage:
    """What a test of this folder looks at."""

    def __init__(self, cluster: Cluster, enhanced: Installed, namespace: Namespace) -> None:
        self.cluster, self.enhanced, self.namespace = cluster, enhanced, namespace
        self._api = cluster.api

    def run(self, *things: Object) -> None:
        """Create pods and wait until they are ready and in the NodePodProbe of their node."""
        for thing in things:
            self.namespace.create(thing)
        names = [thing["metadata"]["name"] for thing in things]
        for name in names:
            self.namespace.until_ready(name)
        self.until(lambda: set(names) <= self.mapped(), f"{names} in the NodePodProbe")

    def until(self, true: Any, what: str, patience: float = RESTART_SECONDS) -> None:
        """Wait; a failure also says what the controllers' objects are."""
        try:
            self.namespace.until(true, what, patience)
        except AssertionError as error:
            probes = json.dumps(self.node_probes(), indent=1)
            raise AssertionError(f"{error}\n{self._shown('crr')}\n{probes[:6000]}") from None

    def _shown(self, what: str) -> str:
        return self.cluster.kubectl("get", what, "-n", self.namespace.name, "-o", "yaml", check=False)[:8000]

    # The NodePodProbes.

    def node_probes(self) -> dict[str, Object]:
        """The NodePodProbe of each node that has one."""
        return {one["metadata"]["name"]: one for one in self._api.items("/apis/apps.kruise.io/v1alpha1/nodepodprobes")}

    def entries(self, node: str = "") -> dict[str, Object]:
        """The entries of this namespace's pods on a node, or on any, by name."""
        probes = [one for name, one in self.node_probes().items() if node in ("", name)]
        found = (entry for one in probes for entry in one["spec"].get("podProbes") or [])
        return {one["name"]: one for one in found if one["namespace"] == self.namespace.name}

    def mapped(self) -> set[str]:
        return set(self.entries())

    def state(self, name: str) -> str:
        """The published state of a pod's first probe; empty without one."""
        uid = self.namespace.pod(name)["metadata"]["uid"]
        found = (
            row for one in self.node_probes().values() for row in one.get("status", {}).get("podProbeStatuses") or []
        )
        states = [state["state"] for one in found if one["uid"] == uid for state in one.get("probeStates") or []]
        return states[0] if states else ""

    # Requests and restarts.

    def requests(self, name: str = "") -> list[Object]:
        """The requests about a pod, or all of the namespace."""
        found = self._api.items(self.namespace.path(REQUESTS))
        return [one for one in found if name in ("", one["spec"]["podName"])]

    def restarts(self, name: str) -> int:
        statuses = self.namespace.pod(name)["status"].get("containerStatuses") or [{}]
        return int(statuses[0].get("restartCount", 0))

    def container(self, name: str) -> str:
        """The ID of the running instance of a pod's container."""
        (status,) = self.namespace.pod(name)["status"]["containerStatuses"]
        return str(status["containerID"]).partition("://")[2]

    def events(self, reason: str) -> list[Object]:
        return [one for one in self.namespace.all_events() if one["reason"] == reason]

    def until_restarted(self, *names: str) -> None:
        """Wait until the container of each of these pods has been restarted once more from now on."""
        before = {name: self.restarts(name) for name in names}
        self.until(lambda: all(self.restarts(name) > count for name, count in before.items()), f"{names} to restart")

    def no_container_was_asked_for_twice(self, others: Mapping[str, int] | None = None) -> None:
        """Whether each request is about an instance of its own, and each restart had a request (F-13, T-37).

        ``others``: restarts that had another cause, by pod.
        """
        asked = Counter(
            one["spec"]["containers"][0]["statusContext"]["containerID"]
            for one in self.requests()
            if one.get("status", {}).get("phase") == "Completed"
        )
        assert asked == Counter(set(asked)), "an instance was restarted twice"
        for pod_of in self.namespace.pods():
            name = pod_of["metadata"]["name"]
            allowed = len(self.requests(name)) + (others or {}).get(name, 0)
            assert self.restarts(name) <= allowed, f"{name} was restarted without a request"

    def close(self) -> None:
        """Nothing of this namespace fails any more, so that the next test has the tokens for itself."""
        for one in self.namespace.pods():
            self._api.delete(self.namespace.path("pods", one["metadata"]["name"]), grace_seconds=0)
