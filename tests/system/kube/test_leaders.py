"""Controllers that are killed one after the other on a real API server, while ten of eleven pods fail."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml
from probelet.beside.guard.mapping.merge import MergeOptions
from probelet.beside.guard.names import CONTEXT, OPT_IN
from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.restart.state.observed_cluster import GuardOptions
from probelet.controller.service import LEASE, ControllerOptions, ControllerService
from probelet.kube import kinds
from probelet.kube.clock import LoopClock
from probelet.kube.connection import PAGE, Connection
from probelet.kube.error import KubeError
from probelet.kube.kind import Kind

from tests.support.patience import PATIENCE_SECONDS
from tests.system.kube.api_server import ApiServer

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

CRDS = Path(__file__).parents[3] / "deploy" / "crds"
DEFINITIONS = Kind("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", False)
NODE = "elp"
PROBES = '[{"name":"app","livenessProbe":{"exec":{"command":["/healthy.sh"]},"periodSeconds":10}}]'
GATHER_SECONDS = 5


class Cluster:
    """A node with eleven pods of enhanced liveness, and others, so that the list of pods has several pages."""

    def __init__(self, server: ApiServer, connection: Connection, namespace: str) -> None:
        self.server = server
        self.connection = connection
        self.namespace = namespace
        self.clock = LoopClock()

    def now(self) -> str:
        return text(self.clock.wall_ns())

    async def set_up(self) -> None:
        for path in CRDS.glob("*s.yaml"):
            await self.connection.create(DEFINITIONS, yaml.safe_load(path.read_text()))
        await self.connection.create(kinds.NODES, {"metadata": {"name": NODE}})
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        await self.connection.patch(kinds.NODES, NODE, "", {"status": ready}, type="merge", subresource="status")
        for number in range(PAGE):
            await self._create(f"other-{number}", {})
        for number in range(11):
            name = f"web-{number:02}"
            await self._create(name, {OPT_IN: "true", CONTEXT: PROBES})
            container = {"name": "app", "image": "a", "imageID": "a", "containerID": f"containerd://{name}"}
            container |= {"restartCount": 0, "ready": True, "state": {"running": {"startedAt": self.now()}}}
            status: dict[str, Any] = {"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": [container]}
            status["conditions"] = [{"type": "Ready", "status": "True"}]
            await self.connection.patch(
                kinds.PODS, name, self.namespace, {"status": status}, type="merge", subresource="status"
            )

    async def _create(self, name: str, annotations: dict[str, str]) -> None:
        spec = {"nodeName": NODE, "containers": [{"name": "app", "image": "a"}]}
        meta = {"name": name, "namespace": self.namespace, "annotations": annotations}
        await self.connection.create(kinds.PODS, {"metadata": meta, "spec": spec})

    async def probes(self) -> Any:
        try:
            return await self.connection.get(kinds.NODE_POD_PROBES, NODE)
        except KubeError:
            return None

    async def fail(self) -> str:
        """The node publishes ten failures; returns the version of its object."""
        now = self.now()
        statuses = [
            {
                **{key: entry[key] for key in ("name", "namespace", "uid")},
                "probeStates": [
                    {
                        "name": entry["probes"][0]["name"],
                        "state": "Failed" if number else "Succeeded",
                        "lastProbeTime": now,
                        "lastTransitionTime": now,
                    }
                ],
            }
            for number, entry in enumerate((await self.probes())["spec"]["podProbes"])
        ]
        patch = {"status": {"podProbeStatuses": statuses}}
        written = await self.connection.patch(
            kinds.NODE_POD_PROBES, NODE, "", patch, type="merge", subresource="status"
        )
        return str(written["metadata"]["resourceVersion"])

    async def requests(self) -> list[Any]:
        return list((await self.connection.list(kinds.CONTAINER_RECREATE_REQUESTS)).items)

    async def lead(self, holder: str, seconds: float, is_done: Any = None) -> None:
        """A controller leads, knows everything, goes on for so long, and is killed: its Lease stays."""
        options = ControllerOptions(self.namespace, "none", holder, holder, MergeOptions(), GuardOptions())
        async with Connection.from_kubeconfig(self.server.kubeconfig()) as connection:
            service = ControllerService(connection, options, self.clock)
            running = asyncio.create_task(service.run())
            async with asyncio.timeout(PATIENCE_SECONDS):
                while service._leading is None or service.why_not_ready is not None:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
                while is_done is not None and not await is_done():  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            await asyncio.sleep(seconds)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        # Otherwise each successor would wait for fifteen seconds.
        await self.connection.delete(kinds.LEASES, LEASE, self.namespace)


@pytest.mark.parametrize("leaders", [5, pytest.param(20, marks=pytest.mark.slow)])
async def test_leaders_in_a_row_change_no_object_and_restart_nothing(
    leaders: int, server: ApiServer, connection: Connection, namespace: str
) -> None:
    cluster = Cluster(server, connection, namespace)
    await cluster.set_up()

    async def is_mapped() -> bool:
        probes = await cluster.probes()
        return probes is not None and len(probes["spec"]["podProbes"]) == 11

    await cluster.lead("first", 0, is_mapped)
    uid = (await cluster.probes())["metadata"]["uid"]
    version = await cluster.fail()
    for number in range(leaders):
        await cluster.lead(str(number), 0.5)
        found = (await cluster.probes())["metadata"]
        assert (found["uid"], found["resourceVersion"]) == (uid, version), number
    version = await cluster.fail()
    await cluster.lead("last", 2 * GATHER_SECONDS)
    assert (await cluster.probes())["metadata"]["resourceVersion"] == version
    assert await cluster.requests() == [], "the breaker of the node holds all ten"
