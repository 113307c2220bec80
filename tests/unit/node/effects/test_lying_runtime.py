"""A runtime that lies about one pod ends nothing, disturbs no other pod, and gets no work without a pause."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from probelet._rust import TokenBucket
from probelet.policy.node.restart_gate import GateOptions, RestartGate
from probelet.policy.start.pace import BURST
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen.listed import QUESTIONS_MAX
from probelet.runtime.seen.pleg import EVENT_NS, RELISTS_BURST, Pleg

from tests.support.schedule import one_in
from tests.unit.node.lying_runtime import INT64_MAX, LIAR, LIES, LyingRuntime
from tests.unit.node.scripted_node import ScriptedNode, make_manifest, served_node

SECOND_NS = 1_000_000_000
SECONDS = 2
STEPS = 20
"""Round trips in each second, in which the node may act."""

EXEC = {"exec": {"command": ["probe"]}, "periodSeconds": 1, "failureThreshold": 1}
PROBED = [{"name": "app", "image": "i", "livenessProbe": EXEC, "readinessProbe": EXEC}]


@pytest.fixture
def runtime() -> LyingRuntime:
    return LyingRuntime()


@asynccontextmanager
async def served(runtime: LyingRuntime, folder: Path, name: str = "node-a") -> AsyncIterator[ScriptedNode]:
    """A node of this name, with the kubelet's back-off, on the runtime."""
    async with served_node(runtime, RestartGate(GateOptions()), folder, name=name) as node:
        yield node


@pytest.fixture
async def node(runtime: LyingRuntime, tmp_path: Path) -> AsyncIterator[ScriptedNode]:
    async with served(runtime, tmp_path) as node:
        yield node


def runs(node: ScriptedNode) -> int:
    probes = node.container("web")["probes"]
    return min(probes[probe_type]["runs"] for probe_type in ("liveness", "readiness")) if probes else 0


def calls_about_liar(runtime: LyingRuntime, rpc: str) -> int:
    found = runtime.called(rpc)
    if rpc == "run_pod_sandbox":
        return sum(request.config.metadata.uid == LIAR for request in found)
    return sum(request.sandbox_config.metadata.uid == LIAR for request in found)


@pytest.mark.parametrize("name", one_in(3, ((name,) for name in LIES)))
async def test_a_lie_about_one_pod_disturbs_no_other(name: str, node: ScriptedNode, runtime: LyingRuntime) -> None:
    alive = asyncio.ensure_future(node.service.host.run())
    node.service.pods.set([make_manifest("web", containers=PROBED)])
    await node.until(lambda: node.pod("web").get("ready") and runs(node))
    before, began = node.container("web")["container_id"], node.service.host.engine.now()

    runtime.lie = LIES[name]
    node.service.pods.set([make_manifest("web", containers=PROBED), make_manifest("liar", containers=PROBED)])
    for _ in range(SECONDS):
        probed = runs(node)
        for _ in range(STEPS):
            await node.round_trip(SECOND_NS // STEPS)
        await node.until(lambda seen=probed: alive.done() or runs(node) > seen)
        assert not alive.done(), alive.exception()

    row = node.container("web")
    assert (row["container_id"], row["restart_count"], row["ready"]) == (before, 0, True)
    assert {probe["result"] for probe in row["probes"].values()} == {"Success"}
    assert row["probes"]["liveness"]["failures"] == row["probes"]["liveness"]["errors"] == 0
    stopped = [request.container_id for request in runtime.called("stop_container")]
    assert before.partition("://")[2] not in stopped
    seconds = (node.service.host.engine.now() - began) // SECOND_NS + 1
    for rpc in ("create_container", "run_pod_sandbox"):
        assert calls_about_liar(runtime, rpc) <= BURST + seconds, rpc
    assert len(runtime.called("list_containers")) <= RELISTS_BURST + seconds
    view = node.service.view
    for page in (view.status().document(), view.events(0)):
        assert json.dumps(page)
    assert all((view.metrics(), view.metrics_pods(), view.metrics_probes()))
    assert view.ready() == (True, "")
    alive.cancel()


async def test_a_pod_that_was_lied_about_is_ended(node: ScriptedNode, runtime: LyingRuntime) -> None:
    runtime.lie = LIES["a status of other bytes"]
    node.service.pods.set([make_manifest("liar", containers=PROBED)])
    await node.until(lambda: runtime.called("start_container"))
    runtime.lie = lambda _, __, ___, answer: answer
    node.service.pods.set([])
    await node.until(lambda: not node.service.view.status().document()["pods"])
    assert runtime.sandboxes == {}


async def test_a_pod_that_was_given_its_neighbours_sandbox_ends_without_it(
    node: ScriptedNode, runtime: LyingRuntime
) -> None:
    web, liar = make_manifest("web", containers=PROBED), make_manifest("liar", containers=PROBED)
    node.service.pods.set([web])
    await node.until(lambda: node.pod("web").get("ready"))
    runtime.lie = LIES["the neighbour's sandbox"]
    node.service.pods.set([web, liar])
    await node.until(lambda: "Failed to create pod sandbox" in " ".join(node.messages("FailedCreatePodSandBox")))
    node.service.pods.set([web])
    await node.until(lambda: len(node.service.view.status().document()["pods"]) == 1)
    assert runtime.called("stop_pod_sandbox") == runtime.called("stop_container") == []
    assert node.pod("web")["ready"]


async def test_a_container_whose_status_hangs_hides_no_exit_of_another(tmp_path: Path) -> None:
    """Without events only the lists tell of exits."""
    runtime = LyingRuntime()
    runtime.with_events = False
    async with served(runtime, tmp_path) as node:
        node.service.pods.set([make_manifest("web"), make_manifest("liar")])
        await node.until(lambda: node.pod("web").get("ready") and node.pod("liar").get("ready"))
        runtime.lie = LIES["a status that hangs"]
        for name in ("web", "liar"):
            runtime.exit(node.container(name)["container_id"].partition("://")[2], 1)
        began = node.service.host.engine.now()
        await node.until(lambda: node.container("web")["restart_count"] == 1)
        assert node.service.host.engine.now() - began < 5 * SECOND_NS
        assert node.container("liar")["restart_count"] == 0
        # The answer comes at last, and is taken without another list.
        runtime.lie = lambda _, __, ___, answer: answer


async def test_a_container_that_cannot_be_read_at_the_start_gets_no_second_one(tmp_path: Path) -> None:
    runtime = LyingRuntime()
    async with served(runtime, tmp_path) as node:
        node.service.pods.set([make_manifest("liar")])
        await node.until(lambda: node.pod("liar").get("ready"))
        before = node.container("liar")["container_id"]
    for lie in ("half a status", "half a sandbox", "a status that hangs"):
        runtime.lie = LIES[lie]
        async with served(runtime, tmp_path) as node:
            node.service.pods.set([make_manifest("liar")])
            await node.until(lambda node=node: node.pod("liar")["phase"])
            for _ in range(3 * STEPS):
                await node.round_trip(SECOND_NS // STEPS)
            assert (node.container("liar")["container_id"], node.container("liar")["state"]) == (before, "running")
    assert len(runtime.called("create_container")) == len(runtime.called("run_pod_sandbox")) == 1


class Crowded(LyingRuntime):
    """Has 3,000 containers of other users in 1,500 sandboxes, and answers no question about any of them."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self._others = b"".join(
            api_pb2.ListContainersResponse(
                containers=[
                    api_pb2.Container(
                        id=f"other{number}",
                        pod_sandbox_id=f"box{number % 1_500}",
                        labels={"io.kubernetes.pod.uid": f"other{number % 1_500}"},
                        state=api_pb2.CONTAINER_RUNNING,
                    )
                ]
            ).SerializeToString()
            for number in range(3_000)
        )
        # Only sandboxes that claim to be of this node have containers that the node asks about.
        self._boxes = b"".join(
            api_pb2.ListPodSandboxResponse(
                items=[
                    api_pb2.PodSandbox(
                        id=f"box{number}",
                        labels={"io.kubernetes.pod.uid": f"other{number}", "probelet.dev/node": "node-a"},
                    )
                ]
            ).SerializeToString()
            for number in range(1_500)
        )
        added = {"ListContainers": self._others, "ListPodSandbox": self._boxes}
        self.lie = lambda _, rpc, __, answer: answer + added.get(rpc, b"")

    async def container_status(self, request: api_pb2.ContainerStatusRequest) -> api_pb2.ContainerStatusResponse:
        await self._hang(request.container_id)
        return await super().container_status(request)

    async def pod_sandbox_status(self, request: api_pb2.PodSandboxStatusRequest) -> api_pb2.PodSandboxStatusResponse:
        await self._hang(request.pod_sandbox_id)
        return await super().pod_sandbox_status(request)

    async def _hang(self, id: str) -> None:
        if id.startswith(("other", "box")):
            self.asked += 1
            await asyncio.Event().wait()


async def test_tenants_without_number_hold_up_no_start_and_no_own_pod(tmp_path: Path) -> None:
    runtime = Crowded()
    async with served(runtime, tmp_path) as node:
        node.service.pods.set([make_manifest("web", containers=PROBED)])
        await node.until(lambda: node.pod("web").get("ready") and runs(node) >= 3)
        assert 0 < runtime.asked <= QUESTIONS_MAX
        assert node.container("web")["restart_count"] == 0


@pytest.mark.parametrize("state", [api_pb2.SANDBOX_READY, api_pb2.SANDBOX_NOTREADY])
async def test_a_sandbox_of_another_user_that_bears_a_pods_uid_restarts_nothing_of_the_pod(
    node: ScriptedNode, runtime: LyingRuntime, state: api_pb2.PodSandboxState
) -> None:
    node.service.pods.set([make_manifest("web", containers=PROBED)])
    await node.until(lambda: node.pod("web").get("ready"))
    (box,) = runtime.sandboxes.values()
    (container,) = runtime.containers.values()
    # Both are newer than the pod's own, so among its sandboxes and containers they would be the ones in use.
    foreign_box = api_pb2.PodSandboxStatus(id="tenant", state=state, created_at=INT64_MAX, labels=box.labels)
    foreign_box.metadata.CopyFrom(api_pb2.PodSandboxMetadata(name="web", uid=box.metadata.uid, attempt=9))
    del foreign_box.labels["probelet.dev/node"]
    foreign = api_pb2.ContainerStatus()
    foreign.CopyFrom(container)
    foreign.id, foreign.created_at = "ended", INT64_MAX
    runtime.sandboxes["tenant"], runtime.containers["ended"] = foreign_box, foreign
    runtime.sandbox_of["ended"] = "tenant"
    runtime.exit("ended", 1)
    lists = len(runtime.called("list_containers"))
    node.service.host.pleg.request_relist()
    await node.until(lambda: len(runtime.called("list_containers")) > lists)
    for _ in range(2 * STEPS):
        await node.round_trip(SECOND_NS // STEPS)
    assert node.container("web")["restart_count"] == 0
    assert len(runtime.called("create_container")) == len(runtime.called("run_pod_sandbox")) == 1
    assert not runtime.called("stop_container")


async def test_a_container_in_a_sandbox_that_is_not_listed_counts_only_if_it_is_known(
    node: ScriptedNode, runtime: LyingRuntime
) -> None:
    node.service.pods.set([make_manifest("web", containers=PROBED)])
    await node.until(lambda: node.pod("web").get("ready"))
    ((own, container),) = runtime.containers.items()
    foreign = api_pb2.ContainerStatus()
    foreign.CopyFrom(container)
    foreign.id, foreign.created_at = "ended", INT64_MAX
    runtime.containers["ended"], runtime.sandbox_of["ended"] = foreign, "made since the list of sandboxes"
    runtime.exit("ended", 1, say=False)
    for _ in range(2):
        lists = len(runtime.called("list_containers"))
        node.service.host.pleg.request_relist()
        await node.until(lambda lists=lists: len(runtime.called("list_containers")) > lists)
    for _ in range(2 * STEPS):
        await node.round_trip(SECOND_NS // STEPS)
    assert node.container("web")["container_id"].endswith(own)
    assert len(runtime.called("create_container")) == 1


async def test_an_event_alone_deletes_no_container_that_runs(node: ScriptedNode, runtime: LyingRuntime) -> None:
    node.service.pods.set([make_manifest("web", containers=PROBED)])
    await node.until(lambda: node.pod("web").get("ready"))
    container = node.container("web")["container_id"].partition("://")[2]
    for id in (container, runtime.sandbox_of[container]) * 5:
        runtime.publish(runtime.sandbox_of[container], id, api_pb2.CONTAINER_DELETED_EVENT)
    for _ in range(2 * STEPS):
        await node.round_trip(SECOND_NS // STEPS)
    assert len(runtime.called("create_container")) == len(runtime.called("run_pod_sandbox")) == 1
    assert node.pod("web")["ready"]


async def test_a_flood_of_events_is_read_with_pauses(
    node: ScriptedNode, runtime: LyingRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    node.service.pods.set([make_manifest("web", containers=PROBED)])
    # Without a stream the runtime has nowhere to send an event.
    await node.until(lambda: node.pod("web").get("ready") and runtime.is_followed)
    taken = 0
    take = Pleg._take

    def counted(pleg: Pleg, event: api_pb2.ContainerEventResponse) -> None:
        nonlocal taken
        taken += 1
        take(pleg, event)

    monkeypatch.setattr(Pleg, "_take", counted)
    node.service.host.pleg._events = TokenBucket(burst=50, interval_ns=EVENT_NS)
    began, lists = node.service.host.engine.now(), len(runtime.called("list_containers"))
    for number in range(20_000):
        runtime.publish("", f"nobody{number}", api_pb2.CONTAINER_STARTED_EVENT)
    await node.until(lambda: taken)
    for _ in range(10 * STEPS):
        await node.round_trip(SECOND_NS // STEPS)
    seconds = (node.service.host.engine.now() - began) / SECOND_NS
    assert taken <= 50 + seconds * SECOND_NS / EVENT_NS
    # Each event names no pod, so each asks for a list.
    assert len(runtime.called("list_containers")) - lists <= RELISTS_BURST + seconds + 1


async def test_a_runtime_that_ignores_filters_loses_nothing_of_other_nodes(
    runtime: LyingRuntime, tmp_path: Path
) -> None:
    def everything(_: LyingRuntime, rpc: str, request: Any, answer: bytes) -> bytes:
        if rpc == "ListPodSandbox":
            boxes = (
                api_pb2.PodSandbox(id=id, metadata=box.metadata, labels=box.labels)
                for id, box in runtime.sandboxes.items()
            )
            return api_pb2.ListPodSandboxResponse(items=boxes).SerializeToString()
        if rpc == "ListContainers":
            rows = (api_pb2.Container(id=id, pod_sandbox_id=box) for id, box in runtime.sandbox_of.items())
            return api_pb2.ListContainersResponse(containers=rows).SerializeToString()
        return answer

    for name in ("node-a", "node-b"):
        async with served(runtime, tmp_path, name) as node:
            node.service.pods.set([make_manifest(name)])
            await node.until(lambda node=node, name=name: node.pod(name).get("ready"))
    runtime.lie = everything
    async with served(runtime, tmp_path) as node:
        await node.service.remove_orphans()
        await node.until(lambda: len(runtime.sandboxes) == 1)
    (left,) = runtime.sandboxes.values()
    assert left.labels["probelet.dev/node"] == "node-b"
    assert [
        runtime.containers[request.container_id].labels["io.kubernetes.pod.name"]
        for request in runtime.called("stop_container")
    ] == ["node-a"]


async def test_a_foreign_sandbox_with_a_label_that_is_not_utf8_does_not_stop_the_start(
    runtime: LyingRuntime, tmp_path: Path
) -> None:
    runtime.lie = LIES["cruel tenants"]
    async with served(runtime, tmp_path) as node:
        await node.service.remove_orphans()
        assert node.service.view.ready() == (True, "")
