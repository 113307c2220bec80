"""An agent whose state directory cannot be written, or whose disk hangs: it probes, kills and carries out as before."""

import errno
import os
from collections.abc import Callable, Iterator
from threading import Event

import pytest
from probelet.agent.state import disk_thread
from probelet.runtime.cri.v1 import api_pb2

from tests.support.patience import PATIENCE_SECONDS
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

FAILS = api_pb2.ExecSyncResponse(exit_code=1)


@pytest.fixture
def quick_disk() -> None:
    """The disk of these tests is not quick."""


@pytest.fixture(params=["full", "hangs"])
def spoil(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Event]]:
    """Spoils the disk for the thread of the state directory; returns an event that mends it."""
    goes_on = Event()
    sync = os.fsync

    def refuse(_: int) -> None:
        if not goes_on.is_set():
            raise OSError(errno.ENOSPC, "No space left on device")

    def hang(descriptor: int) -> None:
        goes_on.wait(PATIENCE_SECONDS)
        sync(descriptor)

    def spoil() -> Event:
        monkeypatch.setattr(disk_thread, "WAIT_SECONDS", 0.05)
        monkeypatch.setattr(os, "fsync", refuse if request.param == "full" else hang)
        return goes_on

    yield spoil
    goes_on.set()


async def test_a_container_that_fails_is_stopped_once(bare_node: AgentNode, spoil: Callable[[], Event]) -> None:
    pod = made_pod({"app": {"livenessProbe": EXEC, "readinessProbe": EXEC}})
    (app,) = bare_node.run(pod)
    async with bare_node.an_agent():
        await bare_node.until(bare_node.is_ready)
        goes_on = spoil()
        bare_node.runtime.exec_answers["probe",] = FAILS
        await bare_node.until(lambda: not bare_node.is_ready() and bare_node.stopped())
        bare_node.runtime.exec_answers.clear()
        bare_node.restart(pod)
        await bare_node.until(bare_node.is_ready)
        goes_on.set()
        await bare_node.for_seconds(5)
        assert [id for id, _ in bare_node.stopped()] == [app]


async def test_a_new_pod_is_probed(bare_node: AgentNode, spoil: Callable[[], Event]) -> None:
    async with bare_node.an_agent():
        spoil()
        for name in ("web", "shop"):
            pod = made_pod({"app": {"readinessProbe": EXEC}})
            pod["metadata"]["name"] = name
            bare_node.run(pod)
        await bare_node.until(lambda: bare_node.is_ready("web") and bare_node.is_ready("shop"))
