"""An upgrade with its state: what each released version left behind when it was killed goes on under this one."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from probelet._rust import read_journal

from tests.support.patience import pauses, until
from tests.system.journal.surviving_runtime import Probelet
from tests.system.upgrade.scene import FAILURES, NODE, POD, RESTARTS, THRESHOLD, Scene
from tests.system.upgrade.state import load, moved

pytestmark = pytest.mark.e2e

KEPT = sorted(Path(__file__).parent.joinpath("kept").glob("*.json"))
DELAY_SECONDS = 40.0
"""The kubelet's third delay: 10, 20, 40 s; the first restart waits for nothing."""


@pytest.fixture(params=KEPT, ids=[file.stem for file in KEPT])
def kept(request: pytest.FixtureRequest) -> Path:
    file: Path = request.param
    return file


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    scene = Scene()
    scene.fails = True
    client = await scene.serve(tmp_path)
    yield scene
    await client.aclose()
    await scene.stop()


@pytest.fixture
async def service(scene: Scene, kept: Path, tmp_path: Path) -> AsyncIterator[Probelet]:
    service = Probelet(tmp_path, [POD], node=NODE)
    service.state.mkdir(mode=0o700)
    (service.state / "journal").write_bytes(load(kept, scene, time.time_ns()))
    yield service
    await service.kill()


async def shown(service: Probelet) -> dict[str, dict[str, Any]]:
    """The containers of the first status that has them all."""
    for pause in pauses():
        if len(found := await service.containers()) == len(POD["spec"]["containers"]):
            return found
        await asyncio.sleep(pause)
    raise TimeoutError


async def test_readiness_restart_counts_and_back_off_go_on_from_the_first_status(
    scene: Scene, service: Probelet
) -> None:
    exited = scene.containers[scene.id_of("crashing")].finished_at / 1e9
    before = set(scene.containers)
    await service.start()
    containers = await shown(service)
    assert (containers["well"]["ready"], containers["well"]["restart_count"]) == (True, 0)
    assert (containers["failing"]["state"], containers["failing"]["restart_count"]) == ("running", 0)
    crashing = containers["crashing"]
    assert (crashing["state"], crashing["restart_count"]) == ("waiting", RESTARTS)
    assert crashing["backoff"]["delay_seconds"] == DELAY_SECONDS
    due = datetime.fromisoformat(crashing["backoff"]["due_at"]).timestamp()
    assert due == pytest.approx(exited + DELAY_SECONDS, abs=1)
    assert set(scene.containers) == before, "nothing is created anew"
    assert scene.called("stop_container") == []


async def test_failures_go_on_to_the_threshold_and_kill_once(scene: Scene, service: Probelet) -> None:
    failing = scene.id_of("failing")
    await service.start()
    await until(lambda: scene.stops["failing"])
    assert scene.failures == THRESHOLD - FAILURES
    assert [request.container_id for request in scene.called("stop_container")] == [failing]


async def test_the_journal_is_read_without_a_doubt_and_written_in_todays_format(
    scene: Scene, service: Probelet
) -> None:
    await service.start()
    await shown(service)
    await until(lambda: (service.state / "journal").read_bytes()[:12] == b"probelet-j2\n")
    assert (service.count_of("journal: read the memory"), service.count_of("not believed")) == (1, 0)
    assert not (service.state / "journal.refused").exists()


def test_what_is_kept_is_of_the_version_that_its_name_says_and_has_all_of_the_scene(kept: Path, tmp_path: Path) -> None:
    document = json.loads(kept.read_text())
    assert document["version"] == kept.stem
    file = tmp_path / "journal"
    file.write_bytes(load(kept, Scene(), document["killed_ns"]))
    read = msgspec.json.decode(read_journal(file))
    runs = {row["container"]: (row["last_result"], row["result_run"]) for row in read["workers"]}
    assert runs["failing"] == ("Failure", FAILURES)
    assert [row["delay_ns"] / 1e9 for row in read["backoff"]] == [DELAY_SECONDS]


def test_a_journal_that_is_moved_differs_in_its_back_off_alone(kept: Path, tmp_path: Path) -> None:
    killed_ns = json.loads(kept.read_text())["killed_ns"]
    journals = [load(kept, Scene(), killed_ns), load(kept, Scene(), killed_ns + 1_000)]
    assert moved(journals[0], 1_000) == journals[1]
    read = []
    for journal in journals:
        (tmp_path / "journal").write_bytes(journal)
        read.append(msgspec.json.decode(read_journal(tmp_path / "journal")))
    assert read[0]["workers"] == read[1]["workers"]
    (before,), (after,) = (each["backoff"] for each in read)
    assert after == {**before, "last_start_ns": before["last_start_ns"] + 1_000}
