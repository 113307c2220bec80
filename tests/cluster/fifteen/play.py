"""What happens to both namespaces at the same moments. The notes of each go to a folder of its name."""

import time
from collections.abc import Sequence
from pathlib import Path

from probelet.runtime.cri.v1 import api_pb2

from tests.cluster.endpoints import ready_endpoints
from tests.cluster.fifteen import pods
from tests.cluster.namespace import Namespace
from tests.cluster.record.recording import Recording
from tests.kubelet.beside.seen.side import SECONDS

TOGETHER = 4
"""So many pods of each side start at the same time, so that each starts about as soon as it would alone."""
ROLLOUT, REMOVE, HORIZON = 5, 20, SECONDS + 2
"""Seconds after every pod has started: the Deployment gets another template; pods are deleted; the end."""


class Play(Recording):
    """The pods with these names on one side."""

    def __init__(self, namespace: Namespace, out: Path, names: Sequence[str], *, taken: bool) -> None:
        super().__init__(namespace, out, "taken over" if taken else "native")
        self._namespace, self._names, self._taken = namespace, names, taken

    def create(self, names: Sequence[str]) -> None:
        for name in names:
            self._namespace.create(pods.service(name), "services")
            self._namespace.create(pods.of_side(pods.PODS[name], taken=self._taken))

    def deploy(self) -> None:
        if pods.DEPLOYMENT in self._names:
            self._namespace.create(pods.service(pods.DEPLOYMENT), "services")
            self._namespace.create(pods.of_side(pods.deployment(), taken=self._taken), "apps/v1/deployments")

    def have_started(self, names: Sequence[str]) -> bool:
        """Whether each pod has a container that has run."""
        ran = {
            one.labels["io.kubernetes.pod.name"]
            for one in self.side.runtime.containers()
            if one.state != api_pb2.CONTAINER_CREATED
        }
        return set(names) <= ran

    def have_deployed(self) -> bool:
        """Whether every pod of the Deployment is in its Service, so that what is missing later is the rollout's."""
        if pods.DEPLOYMENT not in self._names:
            return True
        return len(ready_endpoints(self._namespace, pods.DEPLOYMENT)) == pods.REPLICAS

    def roll(self) -> None:
        self.mark("rollout")
        if pods.DEPLOYMENT in self._names:
            api = self._namespace.cluster.api
            api.patch(self._namespace.path("apps/v1/deployments", pods.DEPLOYMENT), pods.CHANGE)

    def remove(self) -> None:
        self.mark("remove")
        for name in set(pods.REMOVED) & set(self._names):
            self._namespace.cluster.api.delete(self._namespace.path("pods", name))


def play(plays: Sequence[Play], names: Sequence[str], native: Namespace) -> None:
    """Play on all sides at the same moments. ``native`` is the namespace that a failure shows."""
    for one in plays:
        one.begin()
    try:
        single = [name for name in names if name in pods.PODS]
        for first in range(0, len(single), TOGETHER):
            group = single[first : first + TOGETHER]
            for one in plays:
                one.create(group)
            native.until(lambda group=group: all(one.have_started(group) for one in plays), "pods to start")  # type: ignore[misc]
        for one in plays:
            one.deploy()
        for one in plays:
            one.mark("started")
        zero = time.monotonic()
        for seconds, act in ((ROLLOUT, Play.roll), (REMOVE, Play.remove), (HORIZON, Play.end)):
            time.sleep(max(0.0, zero + seconds - time.monotonic()))
            if act is Play.roll:
                native.until(lambda: all(one.have_deployed() for one in plays), "the Deployments to be ready")
            for one in plays:
                act(one)
    except BaseException:
        for one in plays:
            one.end()
        raise
