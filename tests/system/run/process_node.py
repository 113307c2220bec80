"""A service on the embedded runtime: real processes, real sockets, the kubelet's real times."""

import textwrap
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from probelet.node.service import Service
from probelet.runtime.cri.client import RuntimeClient
from probelet.spec.read.load import load

from tests.support.paths import BUILD
from tests.support.patience import until

TARGET = BUILD / "target"

PROBE_SECONDS = 10
"""The timeout of probes that set none: the kubelet's one second is too short beside other tests."""


def seconds_between(earlier: str, later: str) -> float:
    """The seconds between two timestamps of events."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def waited(measured: float, seconds: float) -> bool:
    """Whether an event was not early, up to a tenth of a second between clocks. The machine decides how late it is."""
    return measured >= seconds - 0.1


class ProcessNode:
    """A service on a runtime of its own; manifests are written into ``folder`` and read from there."""

    def __init__(self, service: Service, client: RuntimeClient, folder: Path, logs: Path) -> None:
        self.service = service
        self.client = client
        self.folder = folder
        self.logs = logs

    def run(self, name: str, *containers: dict[str, Any], **spec: Any) -> None:
        """Add a pod, or change it."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}
        self._write(name, pod | {"spec": {"containers": list(containers), **spec}})

    def apply(self, name: str, manifest: str) -> None:
        """Add the pod of a manifest, or change it."""
        self._write(name, yaml.safe_load(textwrap.dedent(manifest)))

    def _write(self, name: str, pod: dict[str, Any]) -> None:
        for container in [*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])]:
            for field in container.keys() & {"livenessProbe", "readinessProbe", "startupProbe"}:
                container[field] = {"timeoutSeconds": PROBE_SECONDS, **container[field]}
        (self.folder / f"{name}.yaml").write_text(yaml.safe_dump(pod))
        self.read_manifests()

    def remove(self, name: str) -> None:
        (self.folder / f"{name}.yaml").unlink()
        self.read_manifests()

    def read_manifests(self) -> None:
        loaded = load([self.folder], runtime="process")
        assert not loaded.errors, [str(problem) for problem in loaded.errors]
        self.service.pods.set(loaded.pods)

    async def until(self, true: Callable[[], object]) -> None:
        await until(true)

    def pod(self, name: str) -> dict[str, Any]:
        pods = self.service.view.status().document()["pods"]
        return next((pod for pod in pods if pod["name"] == name), {"phase": "", "ready": False, "containers": [{}]})

    def container(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.pod(name)["containers"][0]
        return found

    def named(self, pod: str, container: str) -> dict[str, Any]:
        """One container of a pod by its name; empty while the pod does not exist."""
        rows = self.pod(pod)["containers"]
        return next((row for row in rows if row.get("name") == container), {})

    def events(self, reason: str, container: str = "") -> list[dict[str, Any]]:
        """Events with ``reason``, about ``container`` if given."""
        return [
            event
            for event in self.service.view.events(0)
            if event["reason"] == reason and event["field_path"].endswith(f"{{{container}}}" if container else "")
        ]

    def log(self, pod: str, container: str, restart_count: int = 0) -> list[str]:
        """The output of a container so far, line by line."""
        paths = self.logs.glob(f"default_{pod}_*/{container}/{restart_count}.log")
        return [line.split(" ", 3)[3] for path in paths for line in path.read_text().splitlines()]
