"""Starts ``probelet run`` on a containerd by its command line."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen.labels import sandboxes_of
from probelet.server.control.client import Client
from probelet.server.error import NotRunningError

from tests.support.patience import PATIENCE_SECONDS
from tests.system.containerd.image import APP
from tests.system.containerd.machine import Containerd, until

CONFIGURATION = """
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
podLogsDir: {logs}
"""


class ContainerdNode:
    """``probelet run`` on the containerd. A second ``start`` adopts the pods of the first."""

    def __init__(self, containerd: Containerd, folder: Path, patience: float = PATIENCE_SECONDS) -> None:
        self.containerd = containerd
        self._patience = patience
        # Pods carry the name of their node, so that no test ends another test's pods.
        self.name = f"node-{folder.name}"
        self.logs = folder / "logs"
        self.root = folder / "root"
        self._state = folder / "state"
        self._manifests = folder / "manifests"
        self._configuration = folder / "config.yaml"
        self._output = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        # A containerd that was killed while it made a sandbox has left that sandbox's shim and no longer knows it.
        self._shims_before = set(containerd.shims())
        self._manifests.mkdir()
        self.configure()

    def configure(self, *lines: str) -> None:
        """Writes the configuration of the next start, with further lines of the KubeletConfiguration."""
        self._configuration.write_text(CONFIGURATION.format(logs=self.logs) + "".join(f"{line}\n" for line in lines))

    def verb(self, *arguments: str) -> str:
        """What a verb prints about this node."""
        return self.containerd.command(sys.executable, "-m", "probelet", *arguments, "--state-dir", str(self._state))

    def shims(self) -> list[int]:
        """Shims that started after this node."""
        return [shim for shim in self.containerd.shims() if shim not in self._shims_before]

    # The process.

    def start(self, *arguments: str) -> None:
        command = [*self.containerd.inside, sys.executable, "-m", "probelet", "run", str(self._manifests)]
        command += ["--runtime", self.containerd.endpoint, "--config", str(self._configuration)]
        command += ["--root-dir", str(self.root), "--state-dir", str(self._state)]
        command += ["--listen", "127.0.0.1:0", "--node-name", self.name]
        with self._output.open("ab") as output:
            process = [*command, "--log-format", "json", *arguments]
            self._process = subprocess.Popen(process, stdout=output, stderr=output)
        self.until(self._answers, "the service to answer")

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._output.read_text()
        try:
            return bool(Client(self._state).status())
        except NotRunningError:
            return False

    @property
    def pid(self) -> int:
        """The process of the service."""
        assert self._process is not None, "start comes first"
        return self._process.pid

    def signal(self, number: signal.Signals, patience: float | None = None) -> int:
        """Send a signal, wait for the end, return the exit code."""
        assert self._process is not None
        os.kill(self._process.pid, number)
        return self._process.wait(patience or self._patience)

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.signal(signal.SIGKILL)

    def execute(self, pod: str, *command: str, container: str = "app") -> None:
        """Run a command in a container."""
        _, _, bare = self.container(pod, container)["container_id"].partition("://")

        async def run() -> None:
            async with RuntimeClient(self.containerd.endpoint) as client:
                answer = await client.exec_sync(bare, command, 10)
                assert answer.exit_code == 0, answer.stderr

        asyncio.run(run())

    def sandboxes(self) -> list[api_pb2.PodSandbox]:
        """Sandboxes of this node that are ready."""
        return [found for found in self._listed(sandboxes_of(self.name)) if found.state == api_pb2.SANDBOX_READY]

    def sandboxes_of_all(self) -> list[api_pb2.PodSandbox]:
        """Sandboxes of every user of the runtime."""
        return self._listed(None)

    def _listed(self, which: api_pb2.PodSandboxFilter | None) -> list[api_pb2.PodSandbox]:
        async def listed() -> list[api_pb2.PodSandbox]:
            async with RuntimeClient(self.containerd.endpoint) as client:
                return await client.list_pod_sandbox(which)

        return asyncio.run(listed())

    # Its pods.

    def run(
        self,
        name: str,
        *containers: dict[str, Any],
        init: list[dict[str, Any]] | None = None,
        uid: str = "",
        annotations: dict[str, str] | None = None,
        **spec: Any,
    ) -> None:
        """Write the manifest of a pod. The default image is the tests' own, the default ``uid`` none."""
        of_pod = {
            "terminationGracePeriodSeconds": 2,
            "containers": [{"image": APP, **container} for container in containers],
            "initContainers": [{"image": APP, **container} for container in init or []],
            **spec,
        }
        metadata = {"name": name, "uid": uid, "annotations": annotations or {}}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": of_pod}
        written = self._manifests / f".{name}"
        written.write_text(yaml.safe_dump(pod))
        written.rename(self._manifests / f"{name}.yaml")

    def remove(self, name: str) -> None:
        (self._manifests / f"{name}.yaml").unlink()

    def pods(self) -> dict[str, dict[str, Any]]:
        """The pods of the status document by name."""
        return {pod["name"]: pod for pod in Client(self._state).status()["pods"]}

    def pod(self, name: str) -> dict[str, Any]:
        """A pod of the status document; a blank one while the document has no such pod."""
        blank: dict[str, Any] = {"phase": "", "ready": False, "ip": "", "containers": []}
        return next((pod for pod in Client(self._state).status()["pods"] if pod["name"] == name), blank)

    def container(self, pod: str, name: str = "app") -> dict[str, Any]:
        """A container of the status document; a blank one while the document has no such container."""
        blank: dict[str, Any] = {"state": "", "reason": "", "restart_count": -1, "container_id": "", "ready": False}
        return next((found for found in self.pod(pod)["containers"] if found["name"] == name), blank)

    def events(self, reason: str, container: str = "") -> list[str]:
        """Messages of the events with ``reason``, about ``container`` if given."""
        return [
            event["message"]
            for event in Client(self._state).events()
            if event["reason"] == reason and event["field_path"].endswith(f"{{{container}}}" if container else "")
        ]

    def events_since(self, seq: int) -> list[dict[str, Any]]:
        """The service's events after ``seq``; none while the service does not run."""
        with suppress(NotRunningError):
            return Client(self._state).events(seq)
        return []

    def log(self, pod: str, container: str = "app", restart_count: int = 0) -> list[str]:
        """The output of a container, line by line."""
        found = list(self.logs.glob(f"default_{pod}_*/{container}/{restart_count}.log"))
        return [line.split(" ", 3)[3] for path in found for line in path.read_text().splitlines()]

    def lines_with(self, message: str) -> list[dict[str, Any]]:
        """Lines of the service's own log with this message."""
        lines = (json.loads(line) for line in self._output.read_text().splitlines() if line.startswith("{"))
        return [line for line in lines if message in line["message"]]

    def metrics(self) -> str:
        """The page /metrics, from the address that the service's log names."""
        url = self.lines_with("listening")[-1]["url"].replace("/statusz", "/metrics")
        script = "import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())"
        return self.containerd.command(sys.executable, "-c", script, url)

    def until(self, true: Any, what: str) -> None:
        try:
            until(true, what, self._patience)
        except RuntimeError as error:
            said = f"the service said:\n{self._output.read_text()}\nand containerd:\n{self.containerd.last_lines()}"
            raise AssertionError(f"{error}; {said}") from None
