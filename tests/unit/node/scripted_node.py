"""A whole node: the real service and engine against a scripted runtime behind the real wire."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from probelet.cri import errors
from probelet.cri.client import RuntimeClient
from probelet.node.service import Service
from probelet.spec.defaults import set_defaults
from probelet.spec.load import Manifest
from probelet.spec.pod import Pod
from scripted_runtime import ScriptedRuntime


def make_manifest(
    name: str = "web", *, digest: str = "d", uid: str = "", namespace: str = "default", **spec: Any
) -> Manifest:
    body = {
        "metadata": {"name": name, "namespace": namespace, "uid": uid or f"uid-{name}"},
        "spec": {"containers": [{"name": "app", "image": "i"}], **spec},
    }
    return Manifest(pod=set_defaults(msgspec.convert(body, Pod)), path=Path(f"{name}.yaml"), line=1, digest=digest)


class Node:
    """A service that has been started. ``until`` waits, event by event, for something to become true."""

    def __init__(self, service: Service, runtime: ScriptedRuntime, client: RuntimeClient) -> None:
        self.service = service
        self.runtime = runtime
        self.client = client

    async def until(self, true: Callable[[], object]) -> None:
        """Looks again after each round trip to the runtime; the test's own timeout is the limit."""
        while not true():
            with suppress(errors.CriError):
                await self.client.version()

    def pod(self, name: str = "web") -> dict[str, Any]:
        return next(
            (pod for pod in self.service.status()["pods"] if pod["name"] == name), {"phase": "", "containers": []}
        )

    def container(self, name: str = "web", index: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = self.pod(name)["containers"][index]
        return found

    def messages(self, reason: str) -> list[str]:
        return [event["message"] for event in self.service.events(0) if event["reason"] == reason]
