"""One node of a cluster: its containerd and its kubelet."""

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.control_plane.kubelet import Kubelet
from tests.cluster.machine.host import Host
from tests.cluster.machine.namespaces import Namespaces
from tests.cluster.machine.node_space import NodeSpace
from tests.cluster.machine.program import Program
from tests.cluster.machine.runtime import ClusterRuntime


class Node:
    """Each of its two programs can be stopped and started by itself."""

    def __init__(
        self, space: Namespaces, host: Host, kubelet: Sequence[str | Path], target: Path, kubeconfig: Path
    ) -> None:
        """``kubelet``: the first words of its command."""
        self.name, self.address = host.name, host.address
        self.folder = space.folder
        self.runtime = ClusterRuntime(space, host, target)
        self.kubelet = Kubelet(space, host, self.runtime, kubelet, kubeconfig)
        self.is_on = False
        """Whether the cluster can expect it to be ready."""

    @property
    def programs(self) -> list[Program]:
        return [self.runtime.program, self.kubelet]

    def start(self) -> None:
        """Start both for the first time, with the images of the tests. Raises RuntimeError or CalledProcessError."""
        self.runtime.start()
        self.kubelet.start()
        self.is_on = True

    @contextmanager
    def unreachable(self, addresses: Iterable[str]) -> Iterator[None]:
        """Nothing on the node reaches these pods; its runtime still reaches into their containers."""

        def rule(verb: str, address: str) -> None:
            command = ("ip", "rule", verb, "to", address, "priority", "100", "unreachable")
            subprocess.run([*self.runtime.inside, *command], check=True)

        addresses = list(addresses)
        for address in addresses:
            rule("add", address)
        try:
            yield
        finally:
            for address in addresses:
                rule("del", address)


class FurtherNode(Node):
    """A node in namespaces of its own, which can be switched off and on."""

    def __init__(
        self, space: NodeSpace, host: Host, kubelet: Sequence[str | Path], target: Path, kubeconfig: Path
    ) -> None:
        super().__init__(space, host, kubelet, target, kubeconfig)
        self._space = space

    @property
    def programs(self) -> list[Program]:
        return [*super().programs, self._space.program]

    def start(self) -> None:
        self._space.start()
        super().start()

    def switch_off(self) -> None:
        """Every process on it is killed at once, and nothing answers at its address any more."""
        self.is_on = False
        self._space.stop()
        for program in self.programs:
            program.wait()

    def switch_on(self) -> None:
        """Boot it: its disk is as it was, its memory empty. Raises RuntimeError."""
        self._space.start()
        self.runtime.run()
        self.kubelet.start()
        self.is_on = True

    def cut_off(self) -> None:
        """Take its network away: what runs on it goes on, alone."""
        self.is_on = False
        self._space.unplug()

    def reconnect(self) -> None:
        self._space.plug()
        self.is_on = True
