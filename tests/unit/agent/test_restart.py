"""An agent that restarts, and one that starts while the API server is away."""

import asyncio
import os

import pytest
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1)
READINESS = {"app": {"readinessProbe": EXEC}}


async def test_nothing_flaps_across_many_restarts(bare_node: AgentNode) -> None:
    bare_node.run(made_pod({"app": {"readinessProbe": EXEC, "startupProbe": EXEC, "livenessProbe": EXEC}}))
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
    since = bare_node.condition()["lastTransitionTime"]
    writes = bare_node.api.seen("apply", "pods")
    for _ in range(5):
        async with bare_node.an_agent():
            await bare_node.until(lambda: bare_node.pod() and bare_node.pod()["ready"])
            await bare_node.for_seconds(2)
    assert bare_node.api.seen("apply", "pods") == writes
    assert bare_node.condition()["lastTransitionTime"] == since
    assert not bare_node.stopped()


@pytest.mark.parametrize("probes", [("readinessProbe",), ("readinessProbe", "startupProbe", "livenessProbe")])
async def test_an_agent_that_is_killed_as_the_condition_is_written_is_followed_by_one_that_knows_it(
    bare_node: AgentNode, probes: tuple[str, ...]
) -> None:
    """The next agent has only what the journal had on disk when the API server got the condition."""
    bare_node.run(made_pod({"app": dict.fromkeys(probes, EXEC)}))
    journal, kept = bare_node.folder / "journal", list[bytes]()

    def keep() -> None:
        if bare_node.is_ready() and not kept:
            kept.append(journal.read_bytes() if journal.exists() else b"")

    bare_node.api.store.listeners.append(keep)
    async with bare_node.an_agent():
        while not kept:
            # Little time passes, so the journal's own delay is not over.
            await bare_node.round_trip(takes_ns=0)
    journal.write_bytes(kept[0])
    writes = bare_node.api.seen("apply", "pods")
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.pod() and bare_node.pod()["ready"])
        await bare_node.for_seconds(2)
    assert bare_node.api.seen("apply", "pods") == writes


async def test_the_condition_waits_for_the_journal_and_not_for_a_disk_that_hangs(bare_node: AgentNode) -> None:
    # A write to a named pipe waits for a reader.
    os.mkfifo(bare_node.folder / "journal.new")
    bare_node.run(made_pod(READINESS))
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.pod() and bare_node.pod()["containers"][0]["ready"])
        await bare_node.for_seconds(2)
        assert not bare_node.is_ready()
        await bare_node.until(bare_node.is_ready)


async def test_a_container_in_its_start_up_stays_unready_across_a_restart(bare_node: AgentNode) -> None:
    """Beside a kubelet that restarts such a container becomes ready and stays so (kubernetes#142305)."""
    starts = {**EXEC, "exec": {"command": ["starts"]}, "failureThreshold": 1000}
    bare_node.runtime.exec_answers["starts",] = FAILS
    bare_node.run(made_pod({"app": {"startupProbe": starts, "readinessProbe": EXEC}}))
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.condition().get("status") == "False")
    async with bare_node.an_agent():
        await bare_node.for_seconds(20)
        assert not bare_node.is_ready()
        bare_node.runtime.exec_answers.clear()
        await bare_node.until(bare_node.is_ready)


@pytest.mark.parametrize("release", ["1.35", "1.36"])
async def test_an_instance_that_came_while_no_agent_ran_has_to_start_first(bare_node: AgentNode, release: str) -> None:
    starts = {**EXEC, "exec": {"command": ["starts"]}, "failureThreshold": 1000}
    pod = made_pod({"app": {"startupProbe": starts, "readinessProbe": EXEC, "livenessProbe": EXEC}})
    (first,) = bare_node.run(pod)
    async with bare_node.an_agent(release=release):
        await bare_node.until(bare_node.is_ready)
    bare_node.runtime.exec_answers["starts",] = FAILS
    bare_node.runtime.exit(first, 1)
    second = bare_node.restart(pod)
    async with bare_node.an_agent(release=release):
        await bare_node.until(lambda: not bare_node.is_ready())
        await bare_node.for_seconds(5)
        assert not bare_node.pod()["containers"][0]["started"]
        of_second = [call for call in bare_node.runtime.called("exec_sync") if call.container_id == second]
        assert {tuple(call.cmd) for call in of_second} == {("starts",)}
        bare_node.runtime.exec_answers.clear()
        await bare_node.until(bare_node.is_ready)


async def test_a_probe_keeps_its_schedule_across_a_restart(bare_node: AgentNode) -> None:
    """Else a rollout of agents would make every probe of the cluster at once."""
    bare_node.run(made_pod({"app": {"readinessProbe": {**EXEC, "periodSeconds": 600}}}))
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
        await bare_node.round_trip(400 * 10**9)
    made = len(bare_node.runtime.called("exec_sync"))
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.pod() and bare_node.pod()["ready"])
        await bare_node.for_seconds(20)
        assert len(bare_node.runtime.called("exec_sync")) == made, "not at once"
        await bare_node.round_trip(250 * 10**9)
        await bare_node.until(lambda: len(bare_node.runtime.called("exec_sync")) == made + 1)


async def test_a_streak_of_failures_goes_on_after_a_restart(bare_node: AgentNode) -> None:
    probe = {**EXEC, "failureThreshold": 3, "periodSeconds": 30}
    bare_node.runtime.exec_answers["probe",] = FAILS
    (app,) = bare_node.run(made_pod({"app": {"livenessProbe": probe}}))
    for _ in range(2):
        async with bare_node.an_agent():
            count = len(bare_node.events("Unhealthy"))
            attempts = len(bare_node.runtime.called("exec_sync"))
            await bare_node.until(lambda: len(bare_node.runtime.called("exec_sync")) > attempts)  # noqa: B023
            await bare_node.for_seconds(1)
            assert not bare_node.stopped(), count
        # The journal is written within a tenth of a second.
        await asyncio.sleep(0)
    async with bare_node.an_agent():
        await bare_node.until(bare_node.stopped)
    assert [id for id, _ in bare_node.stopped()] == [app]
    assert len(bare_node.runtime.called("exec_sync")) == 3


async def test_a_start_while_the_api_server_is_away_probes_the_pods_of_the_earlier_agent(bare_node: AgentNode) -> None:
    (app,) = bare_node.run(made_pod({"app": {"readinessProbe": EXEC, "livenessProbe": EXEC}}))
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
    await bare_node.api.refuse()
    before = len(bare_node.runtime.called("exec_sync"))
    async with bare_node.an_agent():
        await bare_node.until(lambda: len(bare_node.runtime.called("exec_sync")) > before + 3)
        bare_node.runtime.exec_answers["probe",] = FAILS
        await bare_node.until(bare_node.stopped)
        assert [id for id, _ in bare_node.stopped()] == [app], "probing and killing go on"
        assert bare_node.is_ready(), "what the API server last had"
        await bare_node.api.accept()
        await bare_node.until(lambda: not bare_node.is_ready())


async def test_a_damaged_file_of_a_pod_is_as_none(bare_node: AgentNode) -> None:
    bare_node.run(made_pod(READINESS))
    folder = bare_node.folder / "pods"
    folder.mkdir()
    (folder / "broken.json").write_bytes(b"\xff{")
    (folder / "half.json.new").write_text("{")
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
        assert len(list(folder.iterdir())) == 1


async def test_two_kinds_of_pods_on_one_runtime_stay_apart(bare_node: AgentNode) -> None:
    """``probelet run`` of the same machine labels its sandboxes; the agent passes them over, also with a known UID."""
    pod = made_pod({"app": {"livenessProbe": EXEC}})
    bare_node.run(pod)
    sandbox = bare_node.kubelet.sandbox(pod)
    bare_node.runtime.sandboxes[sandbox].labels["probelet.dev/node"] = "worker-1"
    theirs = bare_node.kubelet.start(pod, sandbox=sandbox)
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.runtime.called("exec_sync"))
        # Without the API server the runtime's word alone begins a container.
        await bare_node.api.refuse()
        await bare_node.for_seconds(5)
        bare_node.runtime.exec_answers["probe",] = FAILS
        await bare_node.until(bare_node.stopped)
        await bare_node.for_seconds(3)
        assert theirs not in [id for id, _ in bare_node.stopped()]
        assert theirs not in {call.container_id for call in bare_node.runtime.called("exec_sync")}
    calls = {name for name, _ in bare_node.runtime.calls}
    assert not calls & {"run_pod_sandbox", "stop_pod_sandbox", "remove_pod_sandbox", "create_container"}
    assert not calls & {"start_container", "remove_container"}, "the agent creates and removes nothing"
