"""An agent whose journal is lost or damaged. What the condition at the API server names stays as it is."""

import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from probelet.beside.takeover.names import CONDITION
from probelet.kube.kinds import PODS
from probelet.runtime.cri.v1 import api_pb2

from tests.support.kube_api import writing
from tests.support.schedule import one_in
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.released_journals import J1, UID
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1)
SELDOM: dict[str, Any] = {**EXEC, "periodSeconds": 600}
STARTS: dict[str, Any] = {"exec": {"command": ["starts"]}, "periodSeconds": 1, "failureThreshold": 3}

TWO = [{"name": "app", "image": "i"}, {"name": "side", "image": "i"}]

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "zeroed": lambda journal: bytes(len(journal)),
    "empty": lambda journal: b"",
    "cut in its header": lambda journal: journal[:7],
    "only its header": lambda journal: journal[:12],
    "cut in a record": lambda journal: journal[: len(journal) * 2 // 3],
    "of another version": lambda journal: journal[:10] + b"0" + journal[11:],
    "of another program": lambda journal: b"#!/bin/sh\n" + journal,
    "a changed byte": lambda journal: journal[:20] + bytes([journal[20] ^ 1]) + journal[21:],
}


def damaged(folder: Path, damage: str) -> None:
    journal = folder / "journal"
    assert journal.stat().st_size > 100
    if damage == "removed":
        journal.unlink()
    elif damage == "the whole directory":
        for each in folder.iterdir():
            if each.is_dir():
                shutil.rmtree(each)
            elif each.name.startswith("journal"):
                each.unlink()
    else:
        journal.write_bytes(DAMAGES[damage](journal.read_bytes()))


async def stays_ready(bare_node: AgentNode, seconds: float = 5) -> None:
    """An agent begins, and writes no condition until it has probed."""
    since, writes, written = bare_node.condition(), bare_node.api.seen("apply", "pods"), list[bool]()
    bare_node.api.store.listeners.append(lambda: written.append(bare_node.is_ready()))
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.pod() and bare_node.pod()["ready"])
        await bare_node.for_seconds(seconds)
        assert bare_node.pod()["ready"]
    assert False not in written, "not even for a moment"
    assert bare_node.condition() == since
    assert bare_node.api.seen("apply", "pods") == writes


@pytest.mark.parametrize(
    ("damage", "release"), one_in(3, product([*DAMAGES, "removed", "the whole directory"], ["1.34", "1.36"]))
)
async def test_a_ready_pod_stays_ready(bare_node: AgentNode, damage: str, release: str) -> None:
    probes = {"readinessProbe": SELDOM, "startupProbe": STARTS, "livenessProbe": SELDOM}
    bare_node.run(made_pod({"app": probes, "side": {"readinessProbe": SELDOM}}, containers=TWO))
    async with bare_node.an_agent(release=release):
        await bare_node.until(bare_node.is_ready)
        await bare_node.for_seconds(1)
    damaged(bare_node.folder, damage)
    started = sum(list(call.cmd) == ["starts"] for call in bare_node.runtime.called("exec_sync"))
    await stays_ready(bare_node)
    assert sum(list(call.cmd) == ["starts"] for call in bare_node.runtime.called("exec_sync")) == started


async def test_a_journal_that_was_cut_anywhere_takes_no_condition_back(bare_node: AgentNode) -> None:
    bare_node.run(made_pod({"app": {"readinessProbe": SELDOM, "startupProbe": STARTS, "livenessProbe": SELDOM}}))
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
        await bare_node.for_seconds(1)
    whole = (bare_node.folder / "journal").read_bytes()
    # Twenty lengths are in headers, names and numbers of records alike.
    for length in range(0, len(whole), len(whole) // 20):
        (bare_node.folder / "journal").write_bytes(whole[:length])
        await stays_ready(bare_node, 2)


async def test_a_failure_that_the_journal_has_counts_more_than_an_older_condition(bare_node: AgentNode) -> None:
    """The agent was killed between the result and the write of the condition."""
    bare_node.run(made_pod({"app": {"readinessProbe": EXEC}}))
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
        await bare_node.api.refuse()
        bare_node.runtime.exec_answers["probe",] = FAILS
        await bare_node.until(lambda: not bare_node.pod()["ready"])
        await bare_node.for_seconds(1)
    assert bare_node.is_ready()
    probed = len(bare_node.runtime.called("exec_sync"))
    await bare_node.api.accept()
    async with bare_node.an_agent():
        await bare_node.until(lambda: not bare_node.is_ready())
        assert len(bare_node.runtime.called("exec_sync")) <= probed + 1


async def test_an_instance_that_the_condition_does_not_name_has_to_be_probed(bare_node: AgentNode) -> None:
    pod = made_pod({"app": {"readinessProbe": EXEC}})
    (first,) = bare_node.run(pod)
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
    (bare_node.folder / "journal").unlink()
    bare_node.runtime.exec_answers["probe",] = FAILS
    bare_node.runtime.exit(first, 1)
    bare_node.restart(pod)
    async with bare_node.an_agent():
        await bare_node.until(lambda: not bare_node.is_ready())
        await bare_node.for_seconds(3)
        assert not bare_node.is_ready()


async def test_a_container_that_has_started_and_is_not_ready_is_not_started_again(bare_node: AgentNode) -> None:
    """Its startup probe would fail now, and the kubelet would not ask it: the container would be killed."""
    probes = {"app": {"startupProbe": STARTS, "readinessProbe": EXEC}, "side": {"readinessProbe": SELDOM}}
    bare_node.run(made_pod(probes, containers=TWO))
    bare_node.runtime.exec_answers["probe",] = FAILS
    async with bare_node.an_agent():
        await bare_node.until(lambda: "instances that have started: [app=" in bare_node.condition().get("message", ""))
    since = bare_node.condition()
    (bare_node.folder / "journal").unlink()
    bare_node.runtime.exec_answers["starts",] = FAILS
    async with bare_node.an_agent():
        await bare_node.until(lambda: bare_node.pod())
        await bare_node.for_seconds(20)
        assert bare_node.condition() == since
        assert not bare_node.stopped()


async def test_the_first_condition_of_this_version_beside_one_without_instances(bare_node: AgentNode) -> None:
    """An agent of an earlier version has written it; the journal knows that the pod is ready."""
    bare_node.run(made_pod({"app": {"readinessProbe": SELDOM}}))
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
    since = bare_node.condition()["lastTransitionTime"]
    found = bare_node.api.get(PODS, "web", "default")
    assert found is not None
    conditions = [{**each, "message": ""} for each in found["status"]["conditions"]]
    bare_node.api.put(PODS, {**found, "status": {**found["status"], "conditions": conditions}})
    written: list[bool] = []
    bare_node.api.store.listeners.append(lambda: written.append(bare_node.is_ready()))
    async with bare_node.an_agent():
        await bare_node.until(lambda: "[app=" in bare_node.condition().get("message", ""))
    assert bare_node.condition()["lastTransitionTime"] == since
    assert False not in written


async def test_an_upgrade_that_changes_the_format_of_the_journal_keeps_every_condition(
    bare_node: AgentNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing.uuid, "uuid4", lambda: UID)
    pod = made_pod({"app": {"readinessProbe": SELDOM, "startupProbe": STARTS, "livenessProbe": SELDOM}})
    bare_node.run(pod)
    monkeypatch.undo()
    condition = {"type": CONDITION, "status": "True", "lastTransitionTime": "2026-11-24T18:00:00Z"}
    found = bare_node.api.get(PODS, "web", "default")
    assert found is not None
    bare_node.api.put(PODS, {**found, "status": {**found["status"], "conditions": [condition]}})
    (bare_node.folder / "journal").write_bytes(J1)
    written: list[bool] = []
    bare_node.api.store.listeners.append(lambda: written.append(bare_node.is_ready()))
    async with bare_node.an_agent():
        await bare_node.until(lambda: "[app=" in bare_node.condition().get("message", ""))
        await bare_node.for_seconds(20)
    assert False not in written
    assert bare_node.condition()["lastTransitionTime"] == condition["lastTransitionTime"]
    assert ["starts"] not in [list(call.cmd) for call in bare_node.runtime.called("exec_sync")]
