"""A cluster of one node: all of its programs, from their start to the end of everything that they left."""

import shutil
from contextlib import suppress
from pathlib import Path

from tests.cluster.binaries import build as binaries
from tests.cluster.control_plane.api import ApiError, Object
from tests.cluster.control_plane.kubelet import Kubelet
from tests.cluster.control_plane.plane import NODE, NODE_NAME, ControlPlane, Kubectl
from tests.cluster.machine.program import Program
from tests.cluster.machine.runtime import ClusterRuntime
from tests.cluster.machine.space import PROGRAMS, Space
from tests.system.containerd.machine import until
from tests.system.containerd.machine import what_is_missing as missing_for_containerd


def what_is_missing() -> str:
    """The reason why no cluster can run here, in one line; empty if one can."""
    absent = [program for program in (*PROGRAMS, "openssl") if shutil.which(program) is None]
    if absent:
        return f"no {', '.join(absent)}"
    return missing_for_containerd() or binaries.what_is_missing()


class Cluster:
    """Between ``start`` and ``stop`` each of its programs can be stopped and started by itself."""

    def __init__(self) -> None:
        self.space = Space()
        self._programs: list[Program] = []

    def start(self) -> None:
        """Start everything and wait until the node is ready. Raises RuntimeError or CalledProcessError."""
        self.assets, target = binaries.build(), binaries.build_target()
        self.space.start()
        self.runtime = ClusterRuntime(self.space, target)
        self.control = ControlPlane(self.space, self.assets)
        self.api = self.control.api
        self.kubectl = Kubectl(self.space, self.assets, self.control.kubeconfig)
        self.kubelet = Kubelet(self.space, self.runtime, self.assets, self.control.kubeconfig_of("node", NODE))
        self._programs = [*self.control.programs, self.runtime.program, self.kubelet]
        self.control.start()
        self.runtime.start()
        self.kubelet.start()
        until(self.node_is_ready, f"the node to be ready ({self.kubelet.log})")

    def keep_logs(self, into: Path) -> None:
        """Copy the logs of programs and pods, and the records of the tests, to a folder that outlasts the cluster."""
        shutil.rmtree(into, ignore_errors=True)
        for source in (self.folder / "control", self.folder / "kubelet", self.folder / "scenes"):
            for file in [*source.rglob("*.log"), *source.rglob("*.jsonl"), *source.rglob("*.json")]:
                target = into / source.name / file.relative_to(source)
                target.parent.mkdir(parents=True, exist_ok=True)
                # A log rotates, and a pod's goes with it.
                with suppress(OSError):
                    shutil.copy(file, target)

    def stop(self) -> None:
        """End everything, also after a start that failed."""
        self.space.stop()
        for program in self._programs:
            program.wait()
        if self._programs:
            self.api.close()

    def restart_kubelet(self, *lines: str) -> None:
        """Start the kubelet anew, with further lines of its configuration, and wait until its node is ready."""
        self.kubelet.stop()
        self.kubelet.configure(*lines)
        self.kubelet.start()
        until(self.node_is_ready, f"the node to be ready ({self.kubelet.log})")

    def node_is_ready(self) -> bool:
        """Whether the node takes pods. Raises RuntimeError if a program has ended."""
        self.kubelet.check()
        try:
            node = self.api.get(f"/api/v1/nodes/{NODE_NAME}")
            self.api.get("/api/v1/namespaces/default/serviceaccounts/default")
        except ApiError:
            return False
        return condition(node, "Ready") == "True" and not node["spec"].get("taints")

    @property
    def folder(self) -> Path:
        return self.space.folder


def condition(thing: Object, kind: str) -> str:
    """The status of a condition: True, False, Unknown, or nothing if the object has no such condition."""
    found = thing.get("status", {}).get("conditions") or []
    return next((str(one["status"]) for one in found if one["type"] == kind), "")
