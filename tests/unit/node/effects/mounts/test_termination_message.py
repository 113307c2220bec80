"""How a container ended, in its own words: what it wrote to its terminationMessagePath, or the end of its log."""

import stat
from pathlib import Path
from typing import Any

import pytest
from probelet.node.effects.mounts.log_tail import log_tail
from probelet.policy.node.restart_gate import RestartGate
from probelet.runtime.cri.v1 import api_pb2
from structlog.testing import capture_logs

from tests.unit.node.scripted_node import ScriptedNode, make_manifest, make_service
from tests.unit.node.scripted_runtime import ScriptedRuntime


def app(**fields: Any) -> list[dict[str, Any]]:
    return [{"name": "app", "image": "i", **fields}]


async def mounted(node: ScriptedNode, runtime: ScriptedRuntime, **fields: Any) -> api_pb2.Mount:
    """Runs a pod that never restarts; returns the mount of its container."""
    node.service.pods.set([make_manifest(restartPolicy="Never", containers=app(**fields))])
    await node.until(lambda: node.container()["state"] == "running")
    _, mount = runtime.called("create_container")[0].config.mounts
    return mount


async def message(node: ScriptedNode, runtime: ScriptedRuntime, code: int) -> str:
    """Ends the container; returns the message of its status."""
    runtime.exit(next(iter(runtime.containers)), code)
    await node.until(lambda: node.container()["state"] == "terminated")
    found: str = node.container()["message"]
    return found


def write_log(tmp_path: Path, *lines: str, count: int = 0) -> None:
    log = tmp_path / "logs" / "default_web_uid-web" / "app" / f"{count}.log"
    log.write_text("".join(f"2026-01-01T00:00:00.0Z stdout {line}\n" for line in lines))


@pytest.mark.parametrize("code", [0, 3])
async def test_a_container_ends_with_the_message_that_it_wrote(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path, code: int
) -> None:
    mount = await mounted(node, runtime)
    file = Path(mount.host_path)
    assert (mount.container_path, mount.readonly, file.read_bytes()) == ("/dev/termination-log", False, b"")
    assert file.is_relative_to(tmp_path / "root" / "pods" / "uid-web")
    assert stat.S_IMODE(file.stat().st_mode) == 0o666, "any user of the container may write"
    assert stat.S_IMODE((tmp_path / "root" / "pods").stat().st_mode) == 0o750, "no user of this machine may"
    file.write_text("the last words")
    assert await message(node, runtime, code) == "the last words"


async def test_the_path_is_the_manifests_and_absolute(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    mount = await mounted(node, runtime, terminationMessagePath="tmp/why")
    assert mount.container_path == "/tmp/why"
    annotations = runtime.called("create_container")[0].config.annotations
    assert annotations["io.kubernetes.container.terminationMessagePath"] == "tmp/why"
    assert annotations["io.kubernetes.container.terminationMessagePolicy"] == "File"


async def test_only_the_end_of_a_long_message_counts(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    mount = await mounted(node, runtime)
    Path(mount.host_path).write_bytes(b"a" * 100_000 + b"b" * 4095 + b"\xff")
    assert await message(node, runtime, 0) == "b" * 4095 + "\N{REPLACEMENT CHARACTER}"


async def test_the_message_of_the_runtime_comes_first(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    mount = await mounted(node, runtime)
    Path(mount.host_path).write_text("mine")
    next(iter(runtime.containers.values())).message = "the runtime's"
    assert await message(node, runtime, 1) == "the runtime's: mine"


@pytest.mark.parametrize(
    ("policy", "code", "written", "expected"),
    [
        ("FallbackToLogsOnError", 2, "", "one\ntwo, three\n"),
        ("FallbackToLogsOnError", 2, "mine", "mine"),
        ("FallbackToLogsOnError", 0, "", ""),
        ("File", 2, "", ""),
    ],
)
async def test_a_failed_container_without_a_message_falls_back_to_its_log(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path, policy: str, code: int, written: str, expected: str
) -> None:
    mount = await mounted(node, runtime, terminationMessagePolicy=policy)
    Path(mount.host_path).write_text(written)
    write_log(tmp_path, "F one", "P two, ", "F three")
    assert await message(node, runtime, code) == expected


async def test_a_log_that_cannot_be_read_is_the_message(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    await mounted(node, runtime, terminationMessagePolicy="FallbackToLogsOnError")
    said = "Error on reading termination message from logs: No such file or directory"
    assert await message(node, runtime, 1) == said


async def test_a_link_in_the_place_of_a_message_leads_nowhere(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    file = Path((await mounted(node, runtime)).host_path)
    file.unlink()
    file.symlink_to(secret)
    assert "secret" not in await message(node, runtime, 0)


async def test_files_end_with_their_instances_and_pods(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    node.service.pods.set([make_manifest()])
    files = tmp_path / "root" / "pods" / "uid-web" / "containers" / "app"
    for count in range(3):
        await node.until(lambda count=count: node.container().get("restart_count") == count)
        await node.until(lambda: node.container()["state"] == "running")
        (files / str(count)).write_text(f"message {count}")
        if count < 2:
            running = next(id for id, c in runtime.containers.items() if c.state == api_pb2.CONTAINER_RUNNING)
            runtime.exit(running, 1)
    await node.until(lambda: len(runtime.containers) == 2)
    assert sorted(file.name for file in files.iterdir()) == ["1", "2"]
    assert node.container()["last_exit"]["message"] == "message 1"
    await node.service.pods.drain()
    assert list((tmp_path / "root" / "pods").iterdir()) == []


async def test_the_next_probelet_finds_the_message_and_removes_the_files_of_pods_without_a_manifest(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    mount = await mounted(node, runtime)
    await node.service.close()
    Path(mount.host_path).write_text("while nobody looked")
    runtime.exit(next(iter(runtime.containers)), 1)
    roots = {"log_root": tmp_path / "logs", "root": tmp_path / "root"}
    later = make_service(node.client, RestartGate(), **roots)
    await later.start()
    later.pods.set([make_manifest(restartPolicy="Never")])
    assert later.view.status().document()["pods"][0]["containers"][0]["message"] == "while nobody looked"
    await later.close()
    last = make_service(node.client, RestartGate(), **roots)
    await last.start()
    await last.remove_orphans()
    while list((tmp_path / "root" / "pods").iterdir()):
        await node.client.version()
    await last.close()


async def test_a_container_starts_without_its_file_if_there_is_no_place_for_it(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    (tmp_path / "root").touch()
    with capture_logs() as lines:
        node.service.pods.set([make_manifest()])
        await node.until(lambda: node.container().get("state") == "running")
    assert not runtime.called("create_container")[0].config.mounts
    assert [line["error"] for line in lines if line["event"] == "no file for termination messages"]


def tail(tmp_path: Path, data: bytes) -> bytes:
    file = tmp_path / "log"
    file.write_bytes(data)
    with file.open("rb") as stream:
        return log_tail(stream.fileno())


def line(text: bytes, tag: bytes = b"F") -> bytes:
    return b"2026-01-01T00:00:00.000000000Z stderr " + tag + b" " + text + b"\n"


def test_a_tail_has_eighty_lines_and_two_kibibytes(tmp_path: Path) -> None:
    assert tail(tmp_path, b"".join(line(b"%d" % number) for number in range(100))) == b"".join(
        b"%d\n" % number for number in range(20, 100)
    )
    assert tail(tmp_path, line(b"a" * 5000)) == b"a" * 2047 + b"\n"


def test_the_parts_of_a_long_line_are_joined(tmp_path: Path) -> None:
    parts = b"".join(line(b"x" * 16384, b"P") for _ in range(200)) + line(b"end\r")
    assert tail(tmp_path, parts) == b"x" * (2048 - 5) + b"end\r\n"


def test_lines_of_another_format_are_left_out(tmp_path: Path) -> None:
    unfinished = line(b"cut").removesuffix(b"\n")
    assert tail(tmp_path, b'{"log": "docker"}\n2026 stdout F no time\n' + line(b"one") + unfinished) == b"one\ncut"
    assert tail(tmp_path, b"") == b""
