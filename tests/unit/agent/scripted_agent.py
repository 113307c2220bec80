"""A whole agent: the real service, engine and connections; the runtime, the kubelet and the API server are scripted."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import msgspec
from probelet._rust import Backoff, Engine
from probelet.agent.service import AgentOptions, AgentService
from probelet.beside.takeover.names import CONDITION
from probelet.daemon.cluster.agent import journalled
from probelet.kube.kinds import EVENTS, PODS
from probelet.runtime.cri import errors
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.host import RuntimeHost
from probelet.server.document.status import StatusDocument

from tests.support.kube_api import KubeApi
from tests.unit.agent.made_pod import NAMESPACE, NODE
from tests.unit.agent.scripted_kubelet import ScriptedKubelet
from tests.unit.node.scripted_runtime import ScriptedRuntime

ROUND_TRIP_NS: Final = 10_000_000
"""The time that a round trip takes on the agent's clocks, so that no test waits for a period or a grace."""
STEPS_WITH_CALL: Final = 100
STEPS_A_CALL: Final = 10
LONG_STEP_NS: Final = 20_000_000
"""A wait of more than a second has longer steps, and calls the runtime in every tenth: that is what a long wait
costs."""
STEPS_MAX: Final = 100_000
"""Half an hour of the agent's time: no test waits so long. The timeout of pytest alone would not end such a wait,
because a callback of the event loop may swallow its exception."""
STEPS_OF_LOOP: Final = 3
"""So often a step without a call lets the event loop turn, in which the API server and its clients live too."""


class AgentNode:
    """A node with a kubelet and an agent, and the API server of both. Agents come and go; the rest stays."""

    def __init__(self, runtime: ScriptedRuntime, client: RuntimeClient, api: KubeApi, folder: Path) -> None:
        self.runtime = runtime
        self.kubelet = ScriptedKubelet(runtime)
        self.client = client
        self.api = api
        self.folder = folder
        self.ahead_ns = 0
        """How far the clocks of agent and runtime are ahead of the machine's."""
        self.agents: list[AgentService] = []
        self.engines: list[Engine] = []
        """The engines of enhanced liveness, of all agents."""
        runtime.wall_ns = lambda: time.time_ns() + self.ahead_ns

    @property
    def agent(self) -> AgentService:
        """The agent that runs, or ran last."""
        return self.agents[-1]

    @asynccontextmanager
    async def an_agent(
        self, *, release: str = "1.36", address: str | None = None, **options: Any
    ) -> AsyncIterator[AgentService]:
        """An agent with the rules of a kubelet's release, until the context ends; it leaves its state directory to the
        next one, as a kill would."""
        path = self.folder / "journal"
        known = journalled(path)
        engine = Engine(start_jitter=False, journal=(path, Backoff()), kubelet_version=release)
        engine.advance(self.ahead_ns)
        given: dict[str, Any] = {"namespace": NAMESPACE, "holder": "test", "journal": known}
        given["enhanced_engine"] = self.enhanced_engine
        connection = self.api.connection()
        host = RuntimeHost(self.client, engine, NODE, address=address)
        service = AgentService(host, connection, AgentOptions(state_dir=self.folder, **{**given, **options}))
        self.agents.append(service)
        try:
            await service.start()
            yield service
        finally:
            await service.close()
            await connection.aclose()

    def enhanced_engine(self) -> Engine:
        """An engine of enhanced liveness, whose clocks go with the agent's."""
        engine = Engine(start_jitter=False, semantics="enhanced", glue=False)
        engine.advance(self.ahead_ns)
        self.engines.append(engine)
        return engine

    # Time.

    async def until(self, true: Callable[[], object]) -> None:
        """Makes round trips until ``true`` returns true."""
        for number in range(STEPS_MAX):
            if true():
                return
            if number < STEPS_WITH_CALL:
                await self.round_trip()
            else:
                await self._step(LONG_STEP_NS, calls=number % STEPS_A_CALL == 0)
        raise TimeoutError(f"not within {STEPS_MAX} round trips")

    async def round_trip(self, takes_ns: int = ROUND_TRIP_NS) -> None:
        """Calls the runtime and the API server's process once, and puts the clocks forward by ``takes_ns``."""
        await self._step(takes_ns, calls=True)

    async def _step(self, takes_ns: int, *, calls: bool) -> None:
        if calls:
            with suppress(errors.CriError):
                await self.client.version()
        for _ in range(1 if calls else STEPS_OF_LOOP):
            await asyncio.sleep(0)
        self.ahead_ns += takes_ns
        self.agent.host.engine.advance(takes_ns)
        for engine in self.engines[-1:]:
            engine.advance(takes_ns)

    async def for_seconds(self, seconds: float) -> None:
        """Lets so much of the agent's time pass, in round trips."""
        for number in range(round(seconds * 1e9 / LONG_STEP_NS)):
            await self._step(LONG_STEP_NS, calls=number % STEPS_A_CALL == 0)

    # The kubelet and the users of the API server.

    def create(self, pod: dict[str, Any]) -> None:
        """A user creates a pod, and it is bound to this node. The API server gives it its UID."""
        pod["metadata"]["uid"] = self.api.put(PODS, pod)["metadata"]["uid"]

    def write_status(self, pod: dict[str, Any], *, started: bool = True, **more: Any) -> None:
        """The kubelet writes a pod's status; the conditions stay as they are."""
        meta = pod["metadata"]
        found = self.api.get(PODS, meta["name"], meta["namespace"])
        assert found is not None
        conditions = found.get("status", {}).get("conditions", [])
        status = {**self.kubelet.status(pod, started=started), "conditions": conditions, **more}
        self.api.put(PODS, {**found, "status": status})

    def terminate(self, pod: dict[str, Any]) -> None:
        """A user deletes a pod: it has a deletionTimestamp until the kubelet has ended it."""
        meta = pod["metadata"]
        found = self.api.get(PODS, meta["name"], meta["namespace"])
        assert found is not None
        marked = {**found["metadata"], "deletionTimestamp": "2026-11-22T23:00:00Z"}
        self.api.put(PODS, {**found, "metadata": marked})

    def run(self, pod: dict[str, Any], **status: Any) -> list[str]:
        """Creates a pod, starts its containers and writes its status; returns the IDs of its containers."""
        self.create(pod)
        ids = [self.kubelet.start(pod, each["name"]) for each in pod["spec"]["containers"]]
        self.write_status(pod, **status)
        return ids

    def restart(self, pod: dict[str, Any], container: str = "app") -> str:
        """Starts the next instance of a container, and writes the status."""
        id = self.kubelet.start(pod, container, count=1)
        self.write_status(pod)
        return id

    # The outcome.

    def condition(self, name: str = "web") -> dict[str, Any]:
        """Our condition of a pod; empty if it has none."""
        pod = self.api.get(PODS, name, "default") or {}
        found = pod.get("status", {}).get("conditions", ())
        return next((each for each in found if each["type"] == CONDITION), {})

    def is_ready(self, name: str = "web") -> bool:
        """Whether the gate of a pod is open."""
        return self.condition(name).get("status") == "True"

    def events(self, reason: str) -> list[str]:
        """The messages of the events at the API server with this reason."""
        return [event["message"] for event in self.api.all(EVENTS) if event["reason"] == reason]

    def pod(self, name: str = "web") -> dict[str, Any]:
        """The pod in the agent's status document."""
        document = self.agent.view.status().document()
        assert msgspec.convert(document, StatusDocument) == document, "the document has the form of its type"
        return next((pod for pod in document["pods"] if pod["name"] == name), {})

    def stopped(self) -> list[tuple[str, int]]:
        """Container and grace of each StopContainer call."""
        return [(call.container_id, call.timeout) for call in self.runtime.called("stop_container")]


@asynccontextmanager
async def agent_node(folder: Path) -> AsyncIterator[AgentNode]:
    """A node without an agent yet."""
    runtime = ScriptedRuntime()
    client = await runtime.serve(folder)
    async with KubeApi() as api:
        try:
            yield AgentNode(runtime, client, api, folder)
        finally:
            await client.aclose()
            await runtime.stop()
