"""A cluster: all of its programs, from their start to the end of everything that they left."""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.cluster.binaries import build as binaries
from tests.cluster.control_plane.api import ApiError, Object
from tests.cluster.control_plane.plane import ControlPlane, Kubectl
from tests.cluster.machine.host import Host
from tests.cluster.machine.node_space import NodeSpace
from tests.cluster.machine.program import Program
from tests.cluster.machine.space import PROGRAMS, Space
from tests.cluster.node import FurtherNode, Node
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

    def __init__(self, nodes: int = 1, kubelet: Sequence[str | Path] = ()) -> None:
        """``kubelet``: the first words of its command, if it is not the stock one."""
        self.space = Space()
        self._hosts = [Host(number) for number in range(nodes)]
        self._control_programs: list[Program] = []
        self._others: list[Program] = []
        self._kubelet = kubelet
        self.nodes: list[Node] = []
        """The first one is in the namespaces of the control plane; the others are instances of FurtherNode."""

    def start(self) -> None:
        """Start everything and wait until every node is ready. Raises RuntimeError or CalledProcessError."""
        self.assets, target = binaries.build(), binaries.build_target()
        self.space.start()
        self.control = ControlPlane(self.space, self.assets, self._hosts)
        self._control_programs = self.control.programs
        self.api = self.control.api
        self.kubectl = Kubectl(self.space, self.assets, self.control.kubeconfig)
        for host in self._hosts:
            kubelet = self._kubelet or (self.assets / "kubelet",)
            parts = (host, kubelet, target, self.control.kubeconfig_of(host.name, host.token))
            first = not self.nodes
            self.nodes.append(Node(self.space, *parts) if first else FurtherNode(NodeSpace(self.space, host), *parts))
        self.runtime, self.kubelet = self.nodes[0].runtime, self.nodes[0].kubelet
        self.control.start()
        for node in self.nodes:
            node.start()
        until(self.node_is_ready, f"each node to be ready ({self.kubelet.log})")

    def node(self, name: str) -> Node:
        return next(node for node in self.nodes if node.name == name)

    def keep_logs(self, into: Path) -> None:
        """Copy the logs of programs and pods, and the records of the tests, to a folder that outlasts the cluster."""
        shutil.rmtree(into, ignore_errors=True)
        further = [node.folder / "kubelet" for node in self.nodes[1:]]
        for source in (self.folder / "control", self.folder / "kubelet", self.folder / "scenes", *further):
            for file in [*source.rglob("*.log"), *source.rglob("*.jsonl"), *source.rglob("*.json")]:
                target = into / file.relative_to(self.folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                # A log rotates, and a pod's goes with it.
                with suppress(OSError):
                    shutil.copy(file, target)

    def stop(self) -> None:
        """End everything, also after a start that failed."""
        self.space.stop()
        for program in [*self._control_programs, *self._others, *(one for node in self.nodes for one in node.programs)]:
            program.wait()
        if self._control_programs:
            self.api.close()

    def run(self, program: Program) -> None:
        """Start another program in these namespaces, which ends with them."""
        self._others.append(program)
        program.start()

    def restart_kubelet(self, *lines: str) -> None:
        """Start the first node's kubelet anew, with further lines of its configuration, and wait until it is ready."""
        self.kubelet.stop()
        self.kubelet.configure(*lines)
        self.kubelet.start()
        until(self.node_is_ready, f"the node to be ready ({self.kubelet.log})")

    def node_is_ready(self) -> bool:
        """Whether each node that is switched on takes pods. Raises RuntimeError if a program has ended."""
        try:
            self.api.get("/api/v1/namespaces/default/serviceaccounts/default")
            return all(self._takes_pods(node) for node in self.nodes if node.is_on)
        except ApiError:
            return False

    def _takes_pods(self, node: Node) -> bool:
        node.kubelet.check()
        found = self.api.get(f"/api/v1/nodes/{node.name}")
        return condition(found, "Ready") == "True" and not found["spec"].get("taints")

    @property
    def folder(self) -> Path:
        return self.space.folder


def condition(thing: Object, kind: str) -> str:
    """The status of a condition: True, False, Unknown, or nothing if the object has no such condition."""
    found = thing.get("status", {}).get("conditions") or []
    return next((str(one["status"]) for one in found if one["type"] == kind), "")
