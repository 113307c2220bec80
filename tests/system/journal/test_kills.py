"""Killed again and again, probelet goes on where it stopped: nothing that was known for 100 ms is lost, no container is
killed that had not failed, and none is borne longer than its thresholds say."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.system.journal.stage import Probelet, Stage, probe

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

KILLS = 20
STARTUP, LIVENESS = 8, 3
FULL_AT_BYTES = 200
"""The journal of one probe, not of two."""
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
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    stage = Stage()
    client = await stage.serve(tmp_path)
    yield stage
    await client.aclose()
    await stage.stop()


@pytest.fixture
async def node(stage: Stage, tmp_path: Path) -> AsyncIterator[Probelet]:
    node = Probelet(tmp_path, [POD])
    yield node
    await node.kill()


async def until(true: Callable[[], object]) -> None:
    """Look again and again: another process does not say when it is done."""
    while not true():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def shown(node: Probelet, name: str, what: str) -> dict[str, Any]:
    """A container as it is shown first in a state."""
    while True:
        row = (await node.containers()).get(name, {})
        if row.get("state") == what:
            return row
        await asyncio.sleep(0.02)


async def ready(node: Probelet) -> None:
    while not (await shown(node, "steady", "running"))["ready"]:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


def forget_what_was_lost(stage: Stage, node: Probelet) -> None:
    """Take back the newest answers that the journal does not know: the next life begins without them, and may lose some
    of its own. More than two, or other ones, are an error.

    Two: the answer that was on its way, and the one before, if its run was late and this one on time.
    """
    for row in node.journal():
        answers = stage.answers.get((row["container_id"].partition("://")[2], row["type"]))
        if answers is None or row["on_hold"]:
            continue
        threshold = THRESHOLDS[row["type"]]
        known = (row["last_result"], row["result_run"])
        truths = [answers.run(threshold, last=n) for n in range(min(3, len(answers.given) + 1))]
        # A row of liveness failures may have been begun anew, never lengthened.
        anew = row["type"] == "liveness" and known[0] == "Failure"
        fits = [n for n, truth in enumerate(truths) if truth == known or (anew and known <= truth)]
        assert fits, f"{row} is not what {answers.given} comes to"
        answers.forget(fits[0])


async def test_twenty_kills_at_random_instants(stage: Stage, node: Probelet) -> None:
    dice = random.Random(7)
    await node.start()
    await ready(node)
    for _ in range(KILLS):
        await asyncio.sleep(dice.uniform(0.0, 2.0))
        await node.kill()
        forget_what_was_lost(stage, node)
        await node.start()
        row = await shown(node, "steady", "running")
        assert (row["ready"], row["started"], row["restart_count"]) == (True, True, 0), (
            "as before, from the first status"
        )
    await until(lambda: stage.stops["starting"] and stage.stops["dying"])
    assert {name: count for name, count in stage.stops.items() if name in ("steady", "flaky") and count} == {}
    assert min(stage.stops["starting"]) >= STARTUP
    assert max(stage.stops["starting"]) <= STARTUP + 1, "no allowance is given twice"
    assert min(stage.stops["dying"]) >= LIVENESS
    await node.kill()
    assert (node.said("journal: read the memory"), node.said("not believed")) == (KILLS, 0)


async def test_a_disk_that_is_full_stops_no_probe(stage: Stage, node: Probelet) -> None:
    await node.start(file_bytes_max=FULL_AT_BYTES)
    await ready(node)
    await until(lambda: stage.stops["dying"])
    await until(lambda: node.said("journal: cannot be written: File too large"))
    await node.kill()
    assert node.said("journal: cannot be written") == 1
    node.journal()  # What is there of it is whole.
    assert not (node.state / "journal.new").exists()


async def test_without_the_opt_in_nothing_is_kept_and_what_was_kept_goes(stage: Stage, node: Probelet) -> None:
    await node.start()
    await shown(node, "steady", "running")
    await until((node.state / "journal").exists)
    await node.kill()
    await node.start(restore="kubelet")
    await shown(node, "steady", "running")
    assert not (node.state / "journal").exists()
