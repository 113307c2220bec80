"""When probing of a container begins, and where its probes go."""

from typing import Any

import pytest
from probelet.runtime.cri.v1 import api_pb2

from tests.support.web import Reply, Request, Server
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

POST_START = {"lifecycle": {"postStart": {"exec": {"command": ["hook"]}}}}
HOOKED: list[dict[str, Any]] = [{"name": "app", "image": "i", **POST_START}]
FAILS = api_pb2.ExecSyncResponse(exit_code=1, stdout=b"not yet")
LIVENESS = {"app": {"livenessProbe": EXEC}}


def well(_: Request) -> Reply:
    return 200, {}, "ok"


async def test_no_probe_before_the_status_shows_this_container_running_and_started(node: AgentNode) -> None:
    pod = made_pod(LIVENESS, containers=HOOKED)
    node.run(pod, started=False)
    await node.for_seconds(5)
    assert not node.runtime.called("exec_sync"), "a probe now could kill in the middle of the postStart hook"
    node.write_status(pod)
    await node.until(lambda: node.runtime.called("exec_sync"))


async def test_the_status_of_an_earlier_instance_begins_nothing(node: AgentNode) -> None:
    pod = made_pod(LIVENESS)
    (first,) = node.run(pod)
    await node.until(lambda: node.runtime.called("exec_sync"))
    node.runtime.exit(first, 1)
    second = node.kubelet.start(pod, count=1)
    await node.for_seconds(1)
    probed = len(node.runtime.called("exec_sync"))
    await node.for_seconds(5)
    assert {call.container_id for call in node.runtime.called("exec_sync")[probed:]} == set()
    node.write_status(pod)
    await node.until(lambda: node.runtime.called("exec_sync")[-1].container_id == second)


async def test_a_native_startup_probe_is_waited_for(node: AgentNode) -> None:
    containers = [{"name": "app", "image": "i", "startupProbe": {"tcpSocket": {"port": 1}}}]
    pod = made_pod(LIVENESS, containers=containers)
    node.run(pod, started=False)
    await node.for_seconds(3)
    assert not node.runtime.called("exec_sync")
    node.write_status(pod)
    await node.until(lambda: node.runtime.called("exec_sync"))


async def test_while_the_api_server_is_away_the_runtime_alone_begins_containers_without_a_post_start_hook(
    node: AgentNode,
) -> None:
    plain, hooked = made_pod(LIVENESS, name="plain"), made_pod(LIVENESS, name="hooked", containers=HOOKED)
    node.create(plain)
    node.create(hooked)
    await node.until(lambda: node.pod("plain") and node.pod("hooked"))
    await node.api.refuse()
    ids = [node.kubelet.start(pod) for pod in (plain, hooked)]
    await node.until(lambda: node.runtime.called("exec_sync"))
    await node.for_seconds(5)
    assert {call.container_id for call in node.runtime.called("exec_sync")} == {ids[0]}
    await node.api.accept()
    node.write_status(hooked)
    await node.until(lambda: ids[1] in {call.container_id for call in node.runtime.called("exec_sync")})


async def test_a_container_that_has_begun_stays_so_whatever_the_status_says_later(node: AgentNode) -> None:
    pod = made_pod(LIVENESS, containers=HOOKED)
    node.run(pod)
    await node.until(lambda: node.runtime.called("exec_sync"))
    node.write_status(pod, started=False)
    probed = len(node.runtime.called("exec_sync"))
    await node.until(lambda: len(node.runtime.called("exec_sync")) > probed + 3)


async def test_an_initial_delay_that_is_a_multiple_of_the_period_does_not_wait_for_one_period_more(
    node: AgentNode,
) -> None:
    """Ticks from before the container's start on would come a moment before the delay is over, and then a period
    later."""
    delayed = {**EXEC, "initialDelaySeconds": 10, "periodSeconds": 10}
    pod = made_pod({"app": {"livenessProbe": delayed}})
    node.create(pod)
    await node.until(node.condition)
    await node.for_seconds(6)
    start_ns = node.ahead_ns
    node.kubelet.start(pod)
    node.write_status(pod)
    await node.until(lambda: node.runtime.called("exec_sync"))
    # While the agent's threads write to disk, the clocks go on. One period more would be 20 s.
    assert node.ahead_ns - start_ns < 19_000_000_000


async def test_only_the_address_of_the_sandbox_is_dialled(node: AgentNode) -> None:
    with Server(well) as mine, Server(well) as other:
        probe = {"httpGet": {"path": "/", "port": mine.port}, "periodSeconds": 1}
        elsewhere = {"httpGet": {"path": "/", "port": other.port, "host": "127.0.0.1"}, "periodSeconds": 1}
        pod = made_pod({"app": {"readinessProbe": probe}})
        node.create(pod)
        node.kubelet.start(pod)
        node.write_status(pod, podIP="127.0.0.2", hostIP="127.0.0.2", podIPs=[{"ip": "127.0.0.2"}])
        await node.until(node.is_ready)
        assert node.pod()["ip"] == "127.0.0.1", "the sandbox's, not the status's"
        node.run(made_pod({"app": {"readinessProbe": elsewhere}}, name="host"))
        await node.until(lambda: node.events("ProbesIgnored"))
        await node.for_seconds(3)
        assert not other.requests
        assert not node.is_ready("host")


async def test_a_pod_on_the_hosts_network_has_the_address_of_the_node(bare_node: AgentNode) -> None:
    with Server(well) as web:
        probe = {"httpGet": {"path": "/", "port": web.port}, "periodSeconds": 1}
        pod = made_pod({"app": {"readinessProbe": probe}}, hostNetwork=True)
        bare_node.create(pod)
        bare_node.kubelet.sandbox(pod, ip="")
        bare_node.kubelet.start(pod)
        bare_node.write_status(pod)
        async with bare_node.an_agent(address="127.0.0.1"):
            await bare_node.until(bare_node.is_ready)


@pytest.mark.parametrize("release", ["1.35", "1.36"])
async def test_a_container_nobody_remembers_has_not_started_before_its_startup_probe_passed(
    bare_node: AgentNode, release: str
) -> None:
    """kubernetes#142305: a kubelet that restarts takes it for started, and it becomes ready and stays so."""
    starts = {**EXEC, "exec": {"command": ["starts"]}, "failureThreshold": 1000}
    bare_node.runtime.exec_answers["starts",] = FAILS
    bare_node.run(made_pod({"app": {"startupProbe": starts, "readinessProbe": EXEC, "livenessProbe": EXEC}}))
    written: list[bool] = []
    bare_node.api.store.listeners.append(lambda: written.append(bare_node.is_ready()))
    async with bare_node.an_agent(release=release):
        await bare_node.until(lambda: bare_node.condition().get("status") == "False")
        await bare_node.until(lambda: len(bare_node.runtime.called("exec_sync")) >= 5)
        assert not bare_node.pod()["containers"][0]["started"]
        assert {tuple(call.cmd) for call in bare_node.runtime.called("exec_sync")} == {("starts",)}
        assert True not in written, "not even for a moment"
        bare_node.runtime.exec_answers.clear()
        await bare_node.until(bare_node.is_ready)


async def test_a_container_that_runs_at_the_first_sync_and_that_nobody_remembers_is_probed_once(
    bare_node: AgentNode,
) -> None:
    (app,) = bare_node.run(made_pod({"app": {"readinessProbe": {**EXEC, "periodSeconds": 600}}}))
    # To a prober that starts much later it has no initial result.
    bare_node.runtime.containers[app].started_at -= 60 * 10**9
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
    (bare_node.folder / "journal").unlink()
    probed = len(bare_node.runtime.called("exec_sync"))
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.pod() and bare_node.pod()["ready"])
        await bare_node.for_seconds(5)
        assert len(bare_node.runtime.called("exec_sync")) == probed + 1


@pytest.mark.parametrize("probe", ["livenessProbe", "readinessProbe"])
async def test_the_startup_probe_gates_the_others_inside_the_agent(node: AgentNode, probe: str) -> None:
    starts = {"exec": {"command": ["starts"]}, "periodSeconds": 1, "failureThreshold": 1000}
    node.runtime.exec_answers["starts",] = FAILS
    node.run(made_pod({"app": {"startupProbe": starts, probe: EXEC}}))
    # The agent's clock does not wait for its engine's thread, which a busy machine may hold up for seconds of it.
    await node.until(lambda: len(node.runtime.called("exec_sync")) >= 3)
    assert {tuple(call.cmd) for call in node.runtime.called("exec_sync")} == {("starts",)}
    assert not node.is_ready()
    node.runtime.exec_answers.clear()
    await node.until(lambda: ["probe"] in [call.cmd for call in node.runtime.called("exec_sync")])
    await node.until(node.is_ready)
