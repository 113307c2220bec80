"""What the node does when the runtime fails: the rows of docs/operating.md."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from probelet.policy.node.restart_gate import RestartGate
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen.runtime_calls import RuntimeCalls

from tests.unit.node.scripted_node import ScriptedNode, make_manifest, observed_node
from tests.unit.node.scripted_runtime import ScriptedRuntime

EXEC = {"exec": {"command": ["probe"]}, "periodSeconds": 1, "failureThreshold": 1}
PROBED = [{"name": "app", "image": "i", "livenessProbe": EXEC, "readinessProbe": EXEC}]


def series(node: ScriptedNode, name: str) -> str:
    rows = (line.rpartition(" ") for line in node.service.view.metrics().decode().splitlines())
    return next((value for known, _, value in rows if known == name), "")


def runs(node: ScriptedNode, kind: str, probe_type: str = "liveness") -> int:
    probes = node.container().get("probes", {})
    count: int = probes[probe_type][kind] if probe_type in probes else 0
    return count


async def probed(node: ScriptedNode) -> str:
    """Starts a pod whose exec probes pass; returns the ID of its container."""
    node.service.pods.set([make_manifest(containers=PROBED)])
    await node.until(lambda: node.pod().get("ready") and runs(node, "runs"))
    container_id: str = node.container()["container_id"]
    return container_id


async def test_a_socket_that_is_gone_counts_against_no_container(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    container_id = await probed(node)
    await runtime.stop()
    await node.until(lambda: runs(node, "errors") >= 2)
    assert (node.container()["container_id"], node.container()["ready"]) == (container_id, True)
    assert node.container()["probes"]["liveness"]["result"] == "Success"
    assert not node.service.view.ready()[0]
    assert series(node, "probelet_runtime_up") == "0"
    # The runtime does not repeat the events of this time; the list shows the exit when the socket is back.
    runtime.exit(container_id.partition("://")[2], 3, say=False)
    await (await runtime.serve(tmp_path)).aclose()
    await node.until(lambda: node.container()["restart_count"] == 1 and node.container()["state"] == "running")
    assert node.service.view.ready() == (True, "")
    assert series(node, "probelet_runtime_up") == "1"
    assert node.messages("Killing") == []


async def test_the_node_adopts_the_containers_of_a_restarted_runtime(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    container_id = await probed(node)
    await runtime.stop()
    await (await runtime.serve(tmp_path)).aclose()
    before = runs(node, "runs")
    await node.until(lambda: node.service.view.ready()[0] and runs(node, "runs") > before)
    assert node.container()["container_id"] == container_id
    assert len(runtime.called("create_container")) == 1


async def test_an_error_of_exec_is_a_prober_error(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    await probed(node)
    runtime.refuse["exec_sync"] = errors.RuntimeRefused("cannot exec in a deleted state")
    await node.until(lambda: runs(node, "errors") >= 2)
    assert (node.container()["restart_count"], node.container()["ready"]) == (0, True)
    assert runtime.called("stop_container") == []


async def test_an_exec_that_outlasts_its_timeout_counts_by_its_answer(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    runtime.held["exec_sync"] = asyncio.Event()
    node.service.pods.set([make_manifest(containers=[{"name": "app", "image": "i", "readinessProbe": EXEC}])])
    await node.until(lambda: "exec_sync" in runtime.arrived)
    late = node.service.host.engine.now() + 1_200_000_000
    await node.until(lambda: node.service.host.engine.now() > late)
    assert not node.pod()["ready"]
    runtime.held["exec_sync"].set()
    await node.until(lambda: node.pod()["ready"])
    assert node.messages("Unhealthy") == []


async def test_a_container_whose_status_the_runtime_refuses_hides_no_other(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    node.service.pods.set([make_manifest("a"), make_manifest("b")])
    await node.until(lambda: node.pod("a").get("ready") and node.pod("b").get("ready"))
    broken, other = (node.container(name)["container_id"].partition("://")[2] for name in ("a", "b"))
    runtime.mute.add(broken)
    runtime.exit(broken, 1, say=False)
    runtime.exit(other, 1, say=False)
    node.service.host.pleg.request_relist()
    await node.until(lambda: node.container("b")["restart_count"] == 1)
    assert node.container("a")["restart_count"] == 0
    assert node.service.view.ready() == (True, "")
    runtime.mute.clear()
    node.service.host.pleg.request_relist()
    await node.until(lambda: node.container("a")["restart_count"] == 1)


async def test_a_refused_list_is_reported_and_requested_again(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    await probed(node)
    runtime.refuse["list_containers"] = errors.Internal("database is locked")
    node.service.host.pleg.request_relist()
    await node.until(lambda: not node.service.view.ready()[0])
    assert node.service.view.ready()[1] == "runtime: rpc error: code = Internal desc = database is locked"
    runtime.refuse.clear()
    node.service.host.pleg.request_relist()
    await node.until(lambda: node.service.view.ready()[0])
    assert node.container()["restart_count"] == 0


class TestExecThatHangsForEver:
    """The kubelet's client gives up after its own timeout plus the probe's: here 0.1 s plus 1 s."""

    @pytest.fixture
    async def node(self, runtime: ScriptedRuntime, gate: RestartGate, tmp_path: Path) -> AsyncIterator[ScriptedNode]:
        async with observed_node(runtime, gate, tmp_path, request_timeout=0.1) as node:
            yield node

    async def test_a_hanging_exec_fails_its_container_and_no_other(
        self, node: ScriptedNode, runtime: ScriptedRuntime
    ) -> None:
        runtime.held["exec_sync"] = asyncio.Event()
        hanging = make_manifest("hanging", containers=[{"name": "app", "image": "i", "livenessProbe": EXEC}])
        node.service.pods.set([hanging, make_manifest("other")])
        await node.until(lambda: node.messages("Killing"))
        assert node.messages("Killing") == ["Container app failed liveness probe, will be restarted"]
        (unhealthy, *_) = node.messages("Unhealthy")
        assert unhealthy == 'Liveness probe failed: command timed out: "probe" timed out after 1s'
        assert node.pod("other")["ready"]
        assert node.container("other")["restart_count"] == 0
        assert int(series(node, 'probelet_runtime_calls_total{operation="exec_sync",code="DeadlineExceeded"}')) >= 1


class TestWithoutEvents:
    @pytest.fixture
    def runtime(self) -> ScriptedRuntime:
        return ScriptedRuntime(with_events=False)

    async def test_the_next_list_finds_an_exit_without_an_event(
        self, node: ScriptedNode, runtime: ScriptedRuntime
    ) -> None:
        container_id = await probed(node)
        runtime.refuse["list_containers"] = errors.RuntimeUnavailable("connection refused")
        await node.until(lambda: not node.service.view.ready()[0])
        runtime.exit(container_id.partition("://")[2], 1)
        runtime.refuse.clear()
        await node.until(lambda: node.container()["restart_count"] == 1)


def test_calls_are_counted_by_code_and_by_how_long_they_took() -> None:
    calls = RuntimeCalls()
    for seconds, error in ((0.004, None), (0.3, None), (100.0, errors.DeadlineExceeded("late"))):
        calls.observe("exec_sync", seconds, error)
    page = calls.render().decode().splitlines()
    assert 'probelet_runtime_calls_total{operation="exec_sync",code="OK"} 2' in page
    assert 'probelet_runtime_calls_total{operation="exec_sync",code="DeadlineExceeded"} 1' in page
    name = "kubelet_runtime_operations_duration_seconds"
    buckets = [line.rpartition(" ")[2] for line in page if line.startswith(f"{name}_bucket")]
    assert buckets == ["1"] * 5 + ["2"] * 6 + ["3"] * 4
    assert f'{name}_sum{{operation_type="exec_sync"}} 100.304' in page


async def test_the_node_reopens_the_event_stream_and_misses_no_exit_meanwhile(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    container_id = (await probed(node)).partition("://")[2]
    runtime.drop_readers()
    runtime.exit(container_id, 1)
    await node.until(lambda: node.container()["restart_count"] == 1 and node.container()["state"] == "running")
    assert isinstance(runtime.called("list_containers")[-1], api_pb2.ListContainersRequest)
