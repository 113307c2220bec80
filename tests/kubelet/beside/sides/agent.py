"""What both agents have: a folder of manifests, one configuration, a process in the network namespace of the pods."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

from tests.kubelet.beside.runtime import Runtime
from tests.support.patience import PATIENCE_SECONDS
from tests.system.containerd.machine import until

NODE = "node-a"
SUFFIX = f"-{NODE}"
"""The kubelet appends it to the names of static pods."""

Row = dict[str, Any]
Rows = dict[str, Row]
"""A status: a row for each pod, ``NAME/UID``, and each container, ``NAME/UID/CONTAINER``."""

CONFIGURATION = """
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: {folder}/manifests
podLogsDir: {folder}/podlogs
containerRuntimeEndpoint: {endpoint}
volumePluginDir: {folder}/volumeplugins
address: 127.0.0.1
port: 10250
readOnlyPort: 10255
healthzPort: 0
authentication: {{anonymous: {{enabled: true}}, webhook: {{enabled: false}}}}
authorization: {{mode: AlwaysAllow}}
cgroupDriver: cgroupfs
cgroupRoot: /
failCgroupV1: false
failSwapOn: false
enforceNodeAllocatable: []
evictionHard: {{memory.available: 1Mi, nodefs.available: 1%, nodefs.inodesFree: 0%, imagefs.available: 1%}}
imageGCHighThresholdPercent: 100
localStorageCapacityIsolation: false
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
resolvConf: /etc/resolv.conf
enableDebuggingHandlers: true
"""


class Agent:
    """One agent. A second ``start`` adopts the pods of the first."""

    name = ""
    page = ""
    """The address of its metrics, inside the network namespace."""

    def __init__(self, runtime: Runtime, folder: Path) -> None:
        self.runtime, self.folder = runtime, folder
        self.manifests, self.logs = folder / "manifests", folder / "podlogs"
        self.configuration, self.log = folder / "config.yaml", folder / "agent.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.manifests.mkdir(parents=True)
        self.logs.mkdir()
        self.configuration.write_text(CONFIGURATION.format(folder=folder, endpoint=runtime.endpoint))

    def command(self) -> list[str]:
        raise NotImplementedError

    def rows(self) -> Rows:
        """The status now. Raises RuntimeError if the agent does not answer."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the agent and wait for its status. Raises RuntimeError, also if the agent ends instead."""
        with self.log.open("ab") as log:
            command = [*self.runtime.inside, *self.command()]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(self._answers, f"{self.name} ({self.log})")

    def _answers(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            words = self.log.read_text(errors="replace")[-1000:]
            raise RuntimeError(f"{self.name}: exit code {self._process.returncode}: {words}")
        try:
            self.rows()
        except RuntimeError:
            return False
        return True

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End the process; its pods go on. Returns the exit code."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(number)
        return self._process.wait(PATIENCE_SECONDS)

    def kill(self) -> None:
        """End the process at once, if it runs."""
        if self._process is not None and self._process.poll() is None:
            self.stop(signal.SIGKILL)

    def get(self, url: str) -> str:
        """The answer to a GET inside the network namespace. Raises RuntimeError."""
        return self.runtime.command("curl", "--silent", "--fail", "--max-time", "10", url)

    def events(self) -> list[dict[str, Any]]:
        """The events that the agent keeps: pod, field, type, reason, message, count."""
        return []

    def write(self, file: str, content: Any) -> None:
        """Write a manifest at once, so that no agent reads half of one."""
        hidden = self.manifests / f".{file}"
        hidden.write_text(content if isinstance(content, str) else json.dumps(content))
        hidden.rename(self.manifests / file)
