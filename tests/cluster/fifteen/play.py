"""What happens to both namespaces at the same moments. The notes of each go to a folder of its name."""

import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probelet.cri.v1 import api_pb2

from tests.cluster.fifteen import pods
from tests.cluster.fifteen.notes import Notes
from tests.cluster.fifteen.side import NamespaceSide
from tests.cluster.namespace import Namespace
from tests.kubelet.beside.seen.side import SECONDS
from tests.kubelet.beside.watch import Watch

TOGETHER = 4
"""So many pods of each side start at the same time, so that each starts about as soon as it would alone."""
ROLLOUT, REMOVE, HORIZON = 5, 20, SECONDS + 2
"""Seconds after every pod has started: the Deployment gets another template; pods are deleted; the end."""

KINDS = {"pods": "pods", "slices": "discovery.k8s.io/v1/endpointslices", "deployments": "apps/v1/deployments"}
"""The objects that are watched, by the names of their files."""


class Play:
    """The pods with these names on one side."""

    def __init__(self, namespace: Namespace, out: Path, names: Sequence[str], *, taken: bool) -> None:
        self._namespace, self._out, self._names, self._taken = namespace, out, names, taken
        self._side = NamespaceSide(namespace)
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        self._marks: dict[str, Any] = {"side": "taken over" if taken else "native", "namespace": namespace.name}
        self._watch = Watch(self._side, out)
        api = namespace.cluster.api
        self._notes = [Notes(api, namespace.path(kind), out / f"{file}.jsonl") for file, kind in KINDS.items()]

    def begin(self) -> None:
        self._watch.start()
        for notes in self._notes:
            notes.start()
        self.mark("begin")

    def end(self) -> None:
        for notes in self._notes:
            notes.end()
        self._watch.end()
        self.mark("end")

    def mark(self, name: str) -> None:
        self._marks[name] = time.time_ns()
        (self._out / "marks.json").write_text(json.dumps(self._marks, indent=1))

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
            for one in self._side.runtime.containers()
            if one.state != api_pb2.CONTAINER_CREATED
        }
        return set(names) <= ran

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
            for one in plays:
                act(one)
    except BaseException:
        for one in plays:
            one.end()
        raise
