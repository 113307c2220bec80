"""After repeated kills probelet continues: it loses no state older than 100 ms, kills no healthy container,
and kills each failing container at its threshold."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from probelet.runtime.cri.v1 import api_pb2

from tests.support.patience import pauses, until
from tests.system.journal.surviving_runtime import Probelet, SurvivingRuntime, probe

pytestmark = pytest.mark.e2e

STARTUP, LIVENESS = 8, 3
FULL_AT_BYTES = 200
"""The journal of one probe fits, the journal of two does not."""
THRESHOLDS = {"startup": STARTUP, "liveness": LIVENESS, "readiness": 1}


def container(name: str, **probes: Any) -> dict[str, Any]:
    return {"name": name, "image": "i", "command": [name], "imagePullPolicy": "Never", **probes}


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {
        "containers": [
            container(
                "steady",
                startupProbe=probe("startup", "ok", STARTUP),
                livenessProbe=probe("liveness", "ok", LIVENESS),
                readinessProbe=probe("readiness", "ok", 1),
            ),
            container("flaky", livenessProbe=probe("liveness", "flaky", LIVENESS)),
            container("starting", startupProbe=probe("startup", "never", STARTUP)),
            container("dying", livenessProbe=probe("liveness", "dies", LIVENESS)),
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


async def shown(service: Probelet, name: str, **what: object) -> dict[str, Any]:
    """Waits until the status shows the container with these fields."""
    for pause in pauses():
        row = (await service.containers()).get(name, {})
        if row and what.items() <= row.items():
            return row
        await asyncio.sleep(pause)
    raise TimeoutError


async def ready(service: Probelet) -> None:
    await shown(service, "steady", state="running", ready=True)


def forget_what_was_lost(runtime: SurvivingRuntime, service: Probelet) -> None:
    """Take back the newest answers that the journal does not know: the next life begins without them, and may lose some
    of its own. More than two, or other ones, are an error.

    Two: the answer that was on its way, and the one before, if its run was late and this one on time.
    """
    for row in service.journal():
        container_id = row["container_id"].partition("://")[2]
        answers = runtime.answers.get((container_id, row["type"]))
        if answers is None or row["on_hold"]:
            continue
        found = runtime.containers.get(container_id)
        if found is None or found.state != api_pb2.CONTAINER_RUNNING:
            # A worker that first sees the container ended begins as a new one: its memory knows no answer.
            continue
        threshold = THRESHOLDS[row["type"]]
        known = (row["last_result"], row["result_run"])
        truths = [answers.run(threshold, last=n) for n in range(min(3, len(answers.given) + 1))]
        # A restart may reset a run of liveness failures, and never lengthens it.
        anew = row["type"] == "liveness" and known[0] == "Failure"
        fits = [n for n, truth in enumerate(truths) if truth == known or (anew and known <= truth)]
        assert fits, f"{row} is not what {answers.given} comes to"
        answers.forget(fits[0])


@pytest.mark.parametrize("kills", [7, pytest.param(20, marks=pytest.mark.slow)])
async def test_kills_at_random_instants(kills: int, runtime: SurvivingRuntime, service: Probelet) -> None:
    dice = random.Random(7)
    await service.start()
    await ready(service)
    for _ in range(kills):
        await asyncio.sleep(dice.uniform(0.0, 2.0))
        await service.kill()
        forget_what_was_lost(runtime, service)
        await service.start()
        row = await shown(service, "steady", state="running")
        assert (row["ready"], row["started"], row["restart_count"]) == (True, True, 0), (
            "as before, from the first status"
        )
    await until(lambda: runtime.stops["starting"] and runtime.stops["dying"])
    assert {name: count for name, count in runtime.stops.items() if name in ("steady", "flaky") and count} == {}
    assert min(runtime.stops["starting"]) >= STARTUP
    assert max(runtime.stops["starting"]) <= STARTUP + 1, "no allowance is given twice"
    assert min(runtime.stops["dying"]) >= LIVENESS
    await service.kill()
    assert (service.count_of("journal: read the memory"), service.count_of("not believed")) == (kills, 0)


async def test_a_full_disk_stops_no_probe(runtime: SurvivingRuntime, service: Probelet) -> None:
    await service.start(file_bytes_max=FULL_AT_BYTES)
    await ready(service)
    await until(lambda: runtime.stops["dying"])
    await until(lambda: service.count_of("journal: cannot be written: File too large"))
    # It tries again and again, and what it could not finish it removes each time.
    await until(lambda: not (service.state / "journal.new").exists())
    await service.kill()
    assert service.count_of("journal: cannot be written") == 1
    service.journal()  # The existing part of the journal is intact.


async def test_without_the_opt_in_the_service_removes_the_journal_and_keeps_none(
    runtime: SurvivingRuntime, service: Probelet
) -> None:
    await service.start()
    await shown(service, "steady", state="running")
    await until((service.state / "journal").exists)
    await service.kill()
    await service.start(restore="kubelet")
    await shown(service, "steady", state="running")
    assert not (service.state / "journal").exists()
