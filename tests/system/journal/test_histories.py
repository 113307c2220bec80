"""After a kill, a probe's history goes on where its journal ends."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from probelet.server.control.client import Client
from probelet.server.error import NotRunningError

from tests.support.patience import PATIENCE_SECONDS, pauses, until
from tests.system.journal.surviving_runtime import Probelet, SurvivingRuntime, probe

pytestmark = pytest.mark.e2e

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {
        "containers": [
            {
                "name": "app",
                "image": "i",
                "command": ["app"],
                "imagePullPolicy": "Never",
                "readinessProbe": probe("readiness", "flaky", 1),
            }
        ]
    },
}


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[SurvivingRuntime]:
    runtime = SurvivingRuntime()
    client = await runtime.serve(tmp_path)
    yield runtime
    await client.aclose()
    await runtime.stop()


@pytest.fixture
async def service(runtime: SurvivingRuntime, tmp_path: Path) -> AsyncIterator[Probelet]:
    service = Probelet(tmp_path, [POD])
    yield service
    await service.kill()


async def attempts(service: Probelet) -> list[dict[str, Any]]:
    """The attempts of the probe's history; none while the service does not answer."""
    try:
        status = await asyncio.to_thread(Client(service.state).status, 64)
    except NotRunningError:
        return []
    probes = [row["probes"]["readiness"] for pod in status["pods"] for row in pod["containers"]]
    history: dict[str, Any] = probes[0].get("history") if probes else {}
    found: list[dict[str, Any]] = (history or {}).get("attempts", [])
    return found


def journalled(service: Probelet) -> int:
    """How many attempts the journal has."""
    return sum(worker["attempts"] for worker in service.journal())


async def shown(service: Probelet, count: int) -> list[dict[str, Any]]:
    """Waits for a history of so many attempts: the other process sends no notice."""
    for pause in pauses():
        if len(found := await attempts(service)) >= count:
            return found
        await asyncio.sleep(pause)
    raise TimeoutError


async def test_a_history_goes_on_after_kills(runtime: SurvivingRuntime, service: Probelet) -> None:
    kept = 0
    for _ in range(2):
        await service.start()
        # It begins with what the journal had; then come attempts of this life.
        await shown(service, kept + 3)
        await until(lambda: journalled(service) >= kept + 3)  # noqa: B023
        await service.kill()
        kept = journalled(service)
    await service.start()
    found = await shown(service, kept)
    [answers] = runtime.answers.values()
    outcomes = [attempt["outcome"] for attempt in found]
    # Of the first life nothing is missing: its container answered two failures and a success.
    assert outcomes[:3] == ["failure", "failure", "success"]
    assert len(outcomes) <= len(answers.given)
    assert [attempt["at"] for attempt in found] == sorted(attempt["at"] for attempt in found)
    command = [sys.executable, "-m", "probelet", "status", "web", "--history", "--state-dir", str(service.state)]
    drawn = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert drawn.stdout.splitlines()[2:4][0] == "default/web app readiness"
    assert drawn.stdout.splitlines()[3].startswith("  !!")
    assert drawn.stdout.count("exec_exit") == 4
