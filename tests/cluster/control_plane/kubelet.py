"""The kubelet of a node."""

from collections.abc import Sequence
from pathlib import Path

from tests.cluster.control_plane.plane import Flags, command
from tests.cluster.machine.host import Host
from tests.cluster.machine.namespaces import Namespaces
from tests.cluster.machine.program import Program
from tests.cluster.machine.runtime import ClusterRuntime
from tests.kubelet.beside.sides.agent import CONFIGURATION


class Kubelet(Program):
    """A stock kubelet with the configuration of the side-by-side comparison."""

    def __init__(
        self, space: Namespaces, host: Host, runtime: ClusterRuntime, program: Sequence[str | Path], kubeconfig: Path
    ) -> None:
        """``program``: the first words of its command."""
        folder = space.folder / "kubelet"
        self.pod_logs = folder / "podlogs"
        for path in (folder / "manifests", self.pod_logs):
            path.mkdir(parents=True)
        configuration = CONFIGURATION.format(folder=folder, endpoint=runtime.endpoint)
        configuration = configuration.replace("cgroupRoot: /\n", f"cgroupRoot: /{space.cgroup}\n")
        # The API server reaches it there for `kubectl logs` and `kubectl exec`.
        self._configuration = configuration.replace("\naddress: 127.0.0.1\n", f"\naddress: {host.address}\n")
        self._file = folder / "config.yaml"
        self.configure()
        flags: Flags = {"config": self._file, "kubeconfig": kubeconfig, "cert-dir": folder / "pki"}
        flags |= {"hostname-override": host.name, "node-ip": host.address, "v": 2}
        super().__init__(space.inside, command(program[0], flags, *program[1:]), folder / "kubelet.log")

    def configure(self, *lines: str) -> None:
        """Write the configuration of the next start, with further lines."""
        self._file.write_text(self._configuration + "".join(f"{line}\n" for line in lines))
