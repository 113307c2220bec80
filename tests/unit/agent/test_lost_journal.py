"""An agent whose journal is lost or damaged. What the condition at the API server names stays as it is."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from probelet.beside.takeover.names import CONDITION
from probelet.kube.kinds import PODS
from probelet.runtime.cri.v1 import api_pb2

from tests.support.kube_api import writing
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.released_journals import J1, UID
from tests.unit.agent.scripted_agent import World

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


async def stays_ready(world: World) -> None:
    """An agent begins, and writes no condition until it has probed."""
    since, writes, written = world.condition(), world.api.seen("apply", "pods"), list[bool]()
    world.api.store.listeners.append(lambda: written.append(world.is_ready()))
    async with world.an_agent():
        await world.until(lambda: world.pod() and world.pod()["ready"])
        await world.for_seconds(20)
        assert world.pod()["ready"]
    assert False not in written, "not even for a moment"
    assert world.condition() == since
    assert world.api.seen("apply", "pods") == writes


@pytest.mark.parametrize("release", ["1.34", "1.36"])
@pytest.mark.parametrize("damage", [*DAMAGES, "removed", "the whole directory"])
async def test_a_ready_pod_stays_ready(world: World, damage: str, release: str) -> None:
    probes = {"readinessProbe": SELDOM, "startupProbe": STARTS, "livenessProbe": SELDOM}
    world.run(made_pod({"app": probes, "side": {"readinessProbe": SELDOM}}, containers=TWO))
    async with world.an_agent(release=release):
        await world.until(world.is_ready)
        await world.for_seconds(1)
    damaged(world.folder, damage)
    started = sum(list(call.cmd) == ["starts"] for call in world.runtime.called("exec_sync"))
    await stays_ready(world)
    assert sum(list(call.cmd) == ["starts"] for call in world.runtime.called("exec_sync")) == started


async def test_a_journal_that_was_cut_anywhere_takes_no_condition_back(world: World) -> None:
    world.run(made_pod({"app": {"readinessProbe": SELDOM, "startupProbe": STARTS, "livenessProbe": SELDOM}}))
    async with world.an_agent():
        await world.until(world.is_ready)
        await world.for_seconds(1)
    whole = (world.folder / "journal").read_bytes()
    for length in range(0, len(whole), 5):
        (world.folder / "journal").write_bytes(whole[:length])
        await stays_ready(world)


async def test_a_failure_that_the_journal_has_counts_more_than_an_older_condition(world: World) -> None:
    """The agent was killed between the result and the write of the condition."""
    world.run(made_pod({"app": {"readinessProbe": EXEC}}))
    async with world.an_agent():
        await world.until(world.is_ready)
        await world.api.refuse()
        world.runtime.exec_answers["probe",] = FAILS
        await world.until(lambda: not world.pod()["ready"])
        await world.for_seconds(1)
    assert world.is_ready()
    probed = len(world.runtime.called("exec_sync"))
    await world.api.accept()
    async with world.an_agent():
        await world.until(lambda: not world.is_ready())
        assert len(world.runtime.called("exec_sync")) <= probed + 1


async def test_an_instance_that_the_condition_does_not_name_has_to_be_probed(world: World) -> None:
    pod = made_pod({"app": {"readinessProbe": EXEC}})
    (first,) = world.run(pod)
    async with world.an_agent():
        await world.until(world.is_ready)
    (world.folder / "journal").unlink()
    world.runtime.exec_answers["probe",] = FAILS
    world.runtime.exit(first, 1)
    world.restart(pod)
    async with world.an_agent():
        await world.until(lambda: not world.is_ready())
        await world.for_seconds(3)
        assert not world.is_ready()


async def test_a_container_that_has_started_and_is_not_ready_is_not_started_again(world: World) -> None:
    """Its startup probe would fail now, and the kubelet would not ask it: the container would be killed."""
    probes = {"app": {"startupProbe": STARTS, "readinessProbe": EXEC}, "side": {"readinessProbe": SELDOM}}
    world.run(made_pod(probes, containers=TWO))
    world.runtime.exec_answers["probe",] = FAILS
    async with world.an_agent():
        await world.until(lambda: "instances that have started: [app=" in world.condition().get("message", ""))
    since = world.condition()
    (world.folder / "journal").unlink()
    world.runtime.exec_answers["starts",] = FAILS
    async with world.an_agent():
        await world.until(lambda: world.pod())
        await world.for_seconds(20)
        assert world.condition() == since
        assert not world.stopped()


async def test_the_first_condition_of_this_version_beside_one_without_instances(world: World) -> None:
    """An agent of an earlier version has written it; the journal knows that the pod is ready."""
    world.run(made_pod({"app": {"readinessProbe": SELDOM}}))
    async with world.an_agent():
        await world.until(world.is_ready)
    since = world.condition()["lastTransitionTime"]
    found = world.api.get(PODS, "web", "default")
    assert found is not None
    conditions = [{**each, "message": ""} for each in found["status"]["conditions"]]
    world.api.put(PODS, {**found, "status": {**found["status"], "conditions": conditions}})
    written: list[bool] = []
    world.api.store.listeners.append(lambda: written.append(world.is_ready()))
    async with world.an_agent():
        await world.until(lambda: "[app=" in world.condition().get("message", ""))
    assert world.condition()["lastTransitionTime"] == since
    assert False not in written


async def test_an_upgrade_that_changes_the_format_of_the_journal_keeps_every_condition(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing.uuid, "uuid4", lambda: UID)
    pod = made_pod({"app": {"readinessProbe": SELDOM, "startupProbe": STARTS, "livenessProbe": SELDOM}})
    world.run(pod)
    monkeypatch.undo()
    condition = {"type": CONDITION, "status": "True", "lastTransitionTime": "2026-11-24T18:00:00Z"}
    found = world.api.get(PODS, "web", "default")
    assert found is not None
    world.api.put(PODS, {**found, "status": {**found["status"], "conditions": [condition]}})
    (world.folder / "journal").write_bytes(J1)
    written: list[bool] = []
    world.api.store.listeners.append(lambda: written.append(world.is_ready()))
    async with world.an_agent():
        await world.until(lambda: "[app=" in world.condition().get("message", ""))
        await world.for_seconds(20)
    assert False not in written
    assert world.condition()["lastTransitionTime"] == condition["lastTransitionTime"]
    assert ["starts"] not in [list(call.cmd) for call in world.runtime.called("exec_sync")]
