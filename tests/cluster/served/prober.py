"""A kubelet whose prober is ``probelet serve``, and that service."""

import shutil
import signal
import sys
from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.cluster.machine.program import Program
from tests.kubelet.goclient.kubelet import build_kubelet
from tests.system.containerd.machine import until

CONFIGURATION = "apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\nrestore: {restore}\n"


class ServedProber:
    """The service can be killed and started while the kubelet runs."""

    def __init__(self, folder: Path) -> None:
        """``folder`` gets the socket, the state and the log; its path is short enough for a socket."""
        self._folder, self._socket, self._state = folder, folder / "prober.sock", folder / "state"

    def cluster(self) -> Cluster:
        """A cluster of one node with that kubelet, before its start. Raises CalledProcessError if none can be built."""
        return Cluster(kubelet=("env", f"PROBELET_SOCKET={self._socket}", build_kubelet()))

    def start(self, cluster: Cluster, restore: str = "kubelet") -> None:
        """Start the service on the node. Raises RuntimeError if it does not serve."""
        configuration, log = self._folder / "config.yaml", self._folder / "serve.log"
        configuration.write_text(CONFIGURATION.format(restore=restore))
        options = {"--socket": self._socket, "--state-dir": self._state, "--config": configuration}
        words = [str(word) for pair in options.items() for word in pair]
        self.program = Program(cluster.space.inside, [sys.executable, "-m", "probelet", "serve", *words], log)
        cluster.run(self.program)
        until(self._serves, f"the socket of the prober ({log})")

    def kill(self, *, forget: bool) -> None:
        """The service itself removes nothing. ``forget``: nothing of its state is left."""
        self.program.stop(signal.SIGKILL)
        self._socket.unlink()
        if forget:
            shutil.rmtree(self._state)

    def _serves(self) -> bool:
        self.program.check()
        return self._socket.exists()
