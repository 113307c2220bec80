"""A whole node: the real service and engine, which call a scripted runtime over gRPC."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from probelet._rust import Engine
from probelet.node.options import NodeOptions
from probelet.node.service import Service
from probelet.policy.node.restart_gate import RestartGate
from probelet.runtime.cri import errors
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.host import RuntimeHost
from probelet.runtime.seen.runtime_calls import RuntimeCalls
from probelet.server.document.status import StatusDocument
from probelet.spec.model.pod import Pod
from probelet.spec.read.load import Manifest
from probelet.spec.rules.defaults import set_defaults

from tests.unit.node.scripted_runtime import ScriptedRuntime

T = TypeVar("T")

ROUND_TRIP_NS: Final = 10_000_000
"""The time that a round trip takes on the node's clocks, so that no test waits for a period or a delay."""


def make_manifest(
    name: str = "web", *, digest: str = "d", uid: str = "", namespace: str = "default", **spec: Any
) -> Manifest:
    body = {
        "metadata": {"name": name, "namespace": namespace, "uid": uid or f"uid-{name}"},
        "spec": {"containers": [{"name": "app", "image": "i"}], **spec},
    }
    return Manifest(pod=set_defaults(msgspec.convert(body, Pod)), path=Path(f"{name}.yaml"), line=1, digest=digest)


class ScriptedNode:
    """A started service, its runtime and a client of that runtime.

    The clocks of the node and its runtime run like the machine's, and each round trip puts them forward.
    """

    def __init__(self, service: Service, runtime: ScriptedRuntime, client: RuntimeClient) -> None:
        self.service = service
        self.runtime = runtime
        self.client = client
        self._ahead_ns = 0
        runtime.wall_ns = lambda: time.time_ns() + self._ahead_ns

    async def until(self, true: Callable[[], object]) -> None:
        """Makes round trips until ``true`` returns true; only the timeout of the test limits their number."""
        while not true():
            await self.round_trip()

    async def result(self, call: Awaitable[T]) -> T:
        """Makes round trips until ``call`` has ended; returns its result."""
        waiting = asyncio.ensure_future(call)
        await self.until(waiting.done)
        return waiting.result()

    async def round_trip(self, takes_ns: int = ROUND_TRIP_NS) -> None:
        """Calls the runtime once, ignores an error, and puts the clocks forward by ``takes_ns``."""
        with suppress(errors.CriError):
            await self.client.version()
        self._ahead_ns += takes_ns
        self.service.host.engine.advance(takes_ns)

    def pod(self, name: str = "web") -> dict[str, Any]:
        document = self.service.view.status().document()
        assert msgspec.convert(document, StatusDocument) == document, "the document has the form of its type"
        return next((pod for pod in document["pods"] if pod["name"] == name), {"phase": "", "containers": []})

    def container(self, name: str = "web", index: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = self.pod(name)["containers"][index]
        return found

    def messages(self, reason: str) -> list[str]:
        return [event["message"] for event in self.service.view.events(0) if event["reason"] == reason]


def make_service(
    client: RuntimeClient,
    gate: RestartGate,
    log_root: Path,
    *,
    engine: Engine | None = None,
    name: str = "node-a",
    on_host: bool = False,
    calls: RuntimeCalls | None = None,
    **options: Any,
) -> Service:
    """A service that has not started; ``options`` are those of ``NodeOptions``."""
    host = RuntimeHost(client, engine or Engine(start_jitter=False), name, on_host=on_host, calls=calls)
    return Service(host, gate, NodeOptions(log_root=log_root, **options))


@asynccontextmanager
async def served_node(
    runtime: ScriptedRuntime,
    gate: RestartGate,
    folder: Path,
    *,
    client: RuntimeClient | None = None,
    engine: Engine | None = None,
    name: str = "node-a",
    **options: Any,
) -> AsyncIterator[ScriptedNode]:
    """A node on the runtime, which it ends with itself; ``options`` are those of ``make_service``."""
    client = client or await runtime.serve(folder)
    service = make_service(client, gate, folder / "logs", engine=engine, name=name, **options)
    await service.start()
    try:
        yield ScriptedNode(service, runtime, client)
    finally:
        await service.close()
        await client.aclose()
        await runtime.stop()


@asynccontextmanager
async def observed_node(
    runtime: ScriptedRuntime, gate: RestartGate, folder: Path, **client_options: Any
) -> AsyncIterator[ScriptedNode]:
    """A node that counts its calls of the runtime, as ``probelet run`` does."""
    await (await runtime.serve(folder)).aclose()
    calls = RuntimeCalls()
    client = RuntimeClient(f"unix://{folder / 'cri.sock'}", observer=calls.observe, **client_options)
    async with served_node(runtime, gate, folder, client=client, calls=calls) as node:
        yield node
