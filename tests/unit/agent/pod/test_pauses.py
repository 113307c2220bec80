"""A pause of probes: what it leaves out, what it keeps, and how it ends."""

import json

import pytest
from probelet.kube.kinds import PODS
from probelet.runtime.cri.v1 import api_pb2
from probelet.server.control.command import NoSuchPodError, RefusedError

from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1)


def command(name: str) -> dict[str, object]:
    return {**EXEC, "exec": {"command": [name]}}


def probed(bare_node: AgentNode, name: str) -> int:
    return sum(list(call.cmd) == [name] for call in bare_node.runtime.called("exec_sync"))


BOTH = {"app": {"livenessProbe": command("alive"), "readinessProbe": command("ready")}}


async def test_a_paused_probe_makes_no_attempt_and_its_result_stays(node: AgentNode) -> None:
    node.run(made_pod(BOTH))
    await node.until(node.is_ready)
    paused = await node.agent.commands.pause("web", None, "liveness", 60)
    assert [(found["container"], found["probe_type"]) for found in paused] == [("app", "liveness")]
    node.runtime.exec_answers["alive",] = FAILS
    before, ready = probed(node, "alive"), probed(node, "ready")
    await node.for_seconds(20)
    assert probed(node, "alive") <= before + 1, "one that was in flight"
    assert probed(node, "ready") > ready + 10, "the other type goes on"
    assert not node.stopped()
    shown = node.pod()["containers"][0]["probes"]
    assert shown["liveness"]["paused_until"] == paused[0]["paused_until"]
    assert shown["liveness"]["result"] == "Success"
    assert "paused_until" not in shown["readiness"]
    assert b"probelet_agent_probes_paused 1" in node.agent.view.metrics()


async def test_it_ends_by_itself(node: AgentNode) -> None:
    node.run(made_pod(BOTH))
    await node.until(node.is_ready)
    await node.agent.commands.pause("default/web", "app", None, 5)
    node.runtime.exec_answers["alive",] = FAILS
    await node.until(node.stopped)
    assert "paused_until" not in node.pod()["containers"][0]["probes"]["liveness"]


async def test_it_can_be_ended(node: AgentNode) -> None:
    node.run(made_pod(BOTH))
    await node.until(node.is_ready)
    await node.agent.commands.pause("web", None, None, 3600)
    ended = await node.agent.commands.pause("web", None, "readiness", 0)
    assert [found["paused_until"] for found in ended] == [None]
    before, alive = probed(node, "ready"), probed(node, "alive")
    await node.until(lambda: probed(node, "ready") > before + 3)
    assert probed(node, "alive") <= alive + 1
    (path,) = (node.folder / "pauses").iterdir()
    assert [found["probe_type"] for found in json.loads(path.read_text())["pauses"]] == ["liveness"]


async def test_it_survives_a_restart_of_the_agent_and_goes_with_its_pod(bare_node: AgentNode) -> None:
    pod = made_pod(BOTH)
    bare_node.run(pod)
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
        await bare_node.agent.commands.pause("web", None, "liveness", 3600)
    bare_node.runtime.exec_answers["alive",] = FAILS
    before = probed(bare_node, "alive")
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.pod())
        await bare_node.for_seconds(10)
        assert probed(bare_node, "alive") == before
        assert bare_node.is_ready()
        assert bare_node.pod()["containers"][0]["probes"]["liveness"]["paused_until"]
        bare_node.kubelet.remove(pod)
        bare_node.api.remove(PODS, "web", "default")
        await bare_node.until(lambda: not list((bare_node.folder / "pauses").iterdir()))


async def test_a_clock_that_was_set_back_makes_no_pause_longer(bare_node: AgentNode) -> None:
    pod = made_pod(BOTH)
    bare_node.run(pod)
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
        await bare_node.agent.commands.pause("web", None, "liveness", 10)
    (path,) = (bare_node.folder / "pauses").iterdir()
    kept = json.loads(path.read_text())
    kept["pauses"][0]["until_ms"] += 86_400_000
    path.write_text(json.dumps(kept))
    bare_node.runtime.exec_answers["alive",] = FAILS
    async with bare_node.an_agent():
        begun = bare_node.agent.host.timers.now()
        await bare_node.until(bare_node.stopped)
        assert bare_node.agent.host.timers.now() - begun < 60 * 10**9


async def test_what_cannot_be_paused_is_said_in_one_line(node: AgentNode) -> None:
    node.run(made_pod(BOTH))
    await node.until(node.is_ready)
    with pytest.raises(NoSuchPodError, match='there is no pod "nobody"'):
        await node.agent.commands.pause("nobody", None, None, 5)
    with pytest.raises(NoSuchPodError, match='pod "default/web" has no probe here of app startup'):
        await node.agent.commands.pause("web", "app", "startup", 5)
    with pytest.raises(RefusedError, match="the kubelet restarts the containers"):
        node.agent.commands.retry("web", None)
