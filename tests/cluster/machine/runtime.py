"""The containerd of a node, at the path where a node has it."""

import signal
from pathlib import Path

from probelet.runtime.cri.v1 import api_pb2

from tests.cluster.machine.host import Host
from tests.cluster.machine.namespaces import Namespaces
from tests.cluster.machine.program import Program
from tests.kubelet.beside.image import build_image
from tests.kubelet.beside.runtime import Runtime
from tests.system.containerd.image import PAUSE, layer_of, write_images
from tests.system.containerd.machine import BUSYBOX

SOCKET = "run/containerd/containerd.sock"


class ClusterRuntime(Runtime):
    """The containerd of a node. Its pods end with the node's namespaces."""

    snapshotter = "overlayfs"
    """The agent's image has a Python; a copy of it for each container would take seconds."""

    def __init__(self, space: Namespaces, host: Host, target: Path) -> None:
        super().__init__(space.folder, SOCKET, host.pods)
        self._node, self._target = space, target
        self.socket.parent.mkdir(exist_ok=True)
        command = ["containerd", "--config", str(self.folder / "config.toml")]
        self._program = Program(space.inside, command, self.folder / "log")

    @property
    def inside(self) -> list[str]:
        return self._node.inside

    def make_space(self) -> None:
        """The cluster has made it."""

    def build_images(self) -> Path:
        pause = layer_of(BUSYBOX, {})
        self.import_image(write_images(self.folder / "pause.tar", pause, [(PAUSE, ["/bin/sleep", "2147483647"], "")]))
        return build_image(self.folder, BUSYBOX, self._target)

    @property
    def program(self) -> Program:
        return self._program

    def launch(self) -> None:
        self._program.start()

    def check(self) -> None:
        self._program.check()

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        self._program.stop(number)

    @property
    def pid(self) -> int:
        return self._program.pid

    def running(self, container: str, namespace: str) -> list[str]:
        """The IDs of the running containers of this name."""
        return [
            one.id
            for one in self.containers()
            if one.metadata.name == container
            and one.labels["io.kubernetes.pod.namespace"] == namespace
            and one.state == api_pb2.CONTAINER_RUNNING
        ]
