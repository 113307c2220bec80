"""Logs on a CRI runtime: rotated, compressed and removed as a kubelet does it."""

import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from probelet.base.logs.reader import LogReader
from probelet.base.logs.rotation import LogLimits
from probelet.node.options import LogUpkeep
from probelet.policy.node.restart_gate import RestartGate
from probelet.runtime.cri import errors

from tests.unit.node.scripted_node import ScriptedNode, make_manifest, served_node
from tests.unit.node.scripted_runtime import ScriptedRuntime

FOLDER = ("default_web_uid-web", "app")
LIMIT = 100


@pytest_asyncio.fixture
async def rotating(runtime: ScriptedRuntime, gate: RestartGate, tmp_path: Path) -> AsyncIterator[ScriptedNode]:
    async with served_node(runtime, gate, tmp_path, logs=LogUpkeep(LogLimits(LIMIT, 3), 10**9)) as node:
        node.service.pods.set([make_manifest()])
        await node.until(lambda: node.container().get("state") == "running")
        yield node


def names(tmp_path: Path) -> list[str]:
    shape = re.compile(r"\d{8}-\d{6}")
    return sorted(shape.sub("TIME", path.name) for path in tmp_path.joinpath("logs", *FOLDER).iterdir())


async def test_large_logs_are_rotated_and_the_oldest_part_goes(
    rotating: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    log = tmp_path.joinpath("logs", *FOLDER, "0.log")
    runtime.on_reopen = log.touch
    written = []

    async def fill(text: str) -> None:
        reopened = len(runtime.called("reopen_container_log"))
        written.append(text * LIMIT)
        log.write_text(written[-1])
        await rotating.until(lambda: len(runtime.called("reopen_container_log")) > reopened)
        await rotating.round_trip(10**9)

    log.write_text("x" * (LIMIT - 1))
    await rotating.round_trip(2 * 10**9)
    await rotating.round_trip(2 * 10**9)
    assert names(tmp_path) == ["0.log"]
    await fill("a")
    assert names(tmp_path) == ["0.log", "0.log.TIME"]
    log.with_name("0.log.20200101-000000.gz.tmp").touch()
    await fill("b")
    assert names(tmp_path) == ["0.log", "0.log.TIME", "0.log.TIME.gz"]
    (compressed,) = log.parent.glob("*.gz")
    assert gzip.decompress(compressed.read_bytes()).decode() == written[0]
    await fill("c")
    assert names(tmp_path) == ["0.log", "0.log.TIME", "0.log.TIME.gz"]
    reader = LogReader(tmp_path / "logs", FOLDER, "0.log")
    assert {request.container_id for request in runtime.called("reopen_container_log")} == set(runtime.containers)
    assert [text[0] for text in b"".join(reader.blocks()).decode().split()] == ["b", "c"]
    reader.close()


async def test_a_log_that_the_runtime_does_not_open_again_stays_the_log(
    rotating: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    runtime.refuse["reopen_container_log"] = errors.RuntimeUnavailable("no")
    tmp_path.joinpath("logs", *FOLDER, "0.log").write_text("x" * LIMIT)
    # The log has its name back when the refusal has arrived, which is later than the call.
    await rotating.until(lambda: len(runtime.called("reopen_container_log")) > 1 and names(tmp_path) == ["0.log"])


async def test_a_log_that_is_gone_is_opened_again(
    rotating: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    tmp_path.joinpath("logs", *FOLDER, "0.log").unlink(missing_ok=True)
    await rotating.until(lambda: runtime.called("reopen_container_log"))


async def test_a_removed_container_takes_its_parts_with_it(
    rotating: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    folder = tmp_path.joinpath("logs", *FOLDER)
    for name in ("0.log", "0.log.20200101-000000.gz", "0.log.20200101-000001"):
        (folder / name).touch()
    for count in range(2):
        (running,) = (id for id, it in runtime.containers.items() if it.state == 1)
        runtime.exit(running, 1)
        await rotating.until(lambda: rotating.container()["restart_count"] > count)  # noqa: B023
        (folder / f"{count + 1}.log").touch()
    await rotating.until(lambda: "0.log" not in names(tmp_path))
    assert names(tmp_path) == ["1.log", "2.log"]
