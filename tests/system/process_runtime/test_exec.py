"""ExecSync against real commands."""

import asyncio
import os
import time
from pathlib import Path

import pytest
from probelet.runtime.cri import errors
from probelet.runtime.cri.exec import exec_attempt
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.child.pipe import PipeReader
from probelet.runtime.embedded.child.spawn import spawn
from probelet.runtime.embedded.pod.execution import READ_BYTES, READ_PAUSE_SECONDS, STREAM_BYTES_MAX, WIDE_STREAMS_MAX

from tests.system.process_runtime.conftest import RunningRuntime, content, left_of

pytestmark = pytest.mark.e2e


async def test_a_command_runs_where_and_as_its_container_does(running: RunningRuntime, tmp_path: Path) -> None:
    pod = await running.pod()
    container_id = await pod.start(
        "sleep", "60", working_dir=str(tmp_path), envs=[api_pb2.KeyValue(key="COLOUR", value=b"blue")]
    )
    answer = await running.client.exec_sync(container_id, ["sh", "-c", "echo $COLOUR $POD_IP; pwd >&2; exit 3"], 5)
    assert (answer.stdout.decode(), answer.stderr.decode()) == (f"blue {pod.ip}\n", f"{tmp_path}\n")
    assert answer.exit_code == 3


async def test_a_command_that_takes_too_long_is_killed_with_its_children(
    running: RunningRuntime, tmp_path: Path
) -> None:
    container_id = await (await running.pod()).start("sleep", "60")
    script = f"sleep 60 & echo $! $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pids; wait"
    begun = time.monotonic()
    outcome = await exec_attempt(running.client, container_id, ["sh", "-c", script], 1)
    assert time.monotonic() - begun >= 1
    assert outcome.kind == "timeout"
    assert outcome.output.decode() == f'command timed out: "sh -c {script}" timed out after 1s'
    assert left_of(map(int, (await content(tmp_path / "pids")).split())) == set()


async def test_a_background_process_does_not_hold_up_the_answer(running: RunningRuntime, tmp_path: Path) -> None:
    """Kubelet e2e row "failing exec longer than timeout": ``sleep 10 & exit 1``. The sleep lives on until the end."""
    container_id = await (await running.pod()).start("sleep", "60")
    script = f"sleep 60 & echo $! > {tmp_path}/pid; echo answered; exit 1"
    answer = await running.client.exec_sync(container_id, ["sh", "-c", script], 30)
    assert (answer.exit_code, answer.stdout) == (1, b"answered\n")
    background = int(await content(tmp_path / "pid"))
    assert left_of([background], 0.1) == {background}
    await running.client.stop_container(container_id, 1)
    assert left_of([background]) == set()


async def test_output_is_capped_and_the_command_still_ends(running: RunningRuntime) -> None:
    container_id = await (await running.pod()).start("sleep", "60")
    script = "yes out | head -c 1000000; yes err | head -c 1000000 >&2; exit 4"
    answer = await running.client.exec_sync(container_id, ["sh", "-c", script], 10)
    assert answer.exit_code == 4
    assert answer.stdout == (b"out\n" * STREAM_BYTES_MAX)[:STREAM_BYTES_MAX]
    assert answer.stderr == (b"err\n" * STREAM_BYTES_MAX)[:STREAM_BYTES_MAX]


async def test_a_quarter_of_a_gigabyte_of_output_is_read_in_large_pieces() -> None:
    """How long it takes depends on the machine; how often the reader has to wake up does not."""
    size, reads = 256 * 1024 * 1024, 0
    ended = asyncio.Event()

    def take(data: bytes | memoryview) -> float:
        nonlocal reads, left
        reads += 1
        left -= len(data)
        if reads == 1:
            reader.widen()
        if not left:
            ended.set()
        return READ_PAUSE_SECONDS

    left = size
    reader = PipeReader(asyncio.get_running_loop(), take, READ_BYTES)
    pid = spawn(["head", "-c", str(size), "/dev/zero"], {}, "", reader.writing_end, reader.writing_end)
    reader.start()
    await ended.wait()
    reader.close()
    await asyncio.to_thread(os.waitpid, pid, 0)
    assert reads < size / READ_BYTES / 2


async def test_the_streams_beyond_the_limit_are_read_slowly_but_all_of_them(running: RunningRuntime) -> None:
    container_id = await (await running.pod()).start("sleep", "60")
    command = ["sh", "-c", "yes out | head -c 20000000"]
    calls = (running.client.exec_sync(container_id, command, 60) for _ in range(2 * WIDE_STREAMS_MAX))
    for answer in await asyncio.gather(*calls):
        assert (answer.exit_code, answer.stdout) == (0, (b"out\n" * STREAM_BYTES_MAX)[:STREAM_BYTES_MAX])


async def test_endless_output_ends_at_the_timeout_of_its_attempt(running: RunningRuntime) -> None:
    container_id = await (await running.pod()).start("sleep", "60")
    outcome = await exec_attempt(running.client, container_id, ["yes"], 1)
    assert outcome.kind == "timeout"
    answer = await running.client.exec_sync(container_id, ["true"], 30)
    assert answer.exit_code == 0


async def test_a_missing_command_is_an_error_as_in_containerd(running: RunningRuntime) -> None:
    container_id = await (await running.pod()).start("sleep", "60")
    outcome = await exec_attempt(running.client, container_id, ["no-such-program"], 30)
    assert outcome.kind == "error"
    assert outcome.output.decode() == (
        "rpc error: code = Unknown desc = failed to exec in container: "
        'exec: "no-such-program": executable file not found in $PATH'
    )


async def test_only_a_running_container_executes_commands(running: RunningRuntime) -> None:
    pod = await running.pod()
    created, exited = await pod.create("true"), await pod.start("true", name="other")
    await running.exited(exited)
    with pytest.raises(errors.RuntimeRefused, match="failed to exec in container: container is in CONTAINER_CREATED"):
        await running.client.exec_sync(created, ["true"], 30)
    with pytest.raises(errors.RuntimeRefused, match="failed to exec in container: container is in CONTAINER_EXITED"):
        await running.client.exec_sync(exited, ["true"], 30)
    with pytest.raises(errors.NotFound, match='failed to find container "unknown" in store: not found'):
        await running.client.exec_sync("unknown", ["true"], 30)
    with pytest.raises(errors.InvalidArgument, match="the command is empty"):
        await running.client.exec_sync(await pod.start("sleep", "60", name="third"), [], 30)


async def test_the_command_ends_when_its_caller_disconnects(running: RunningRuntime, tmp_path: Path) -> None:
    container_id = await (await running.pod()).start("sleep", "60")
    script = f"echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; sleep 60"
    call = asyncio.ensure_future(running.client.exec_sync(container_id, ["sh", "-c", script], 60))
    pid = int(await content(tmp_path / "pid"))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert left_of([pid]) == set()


async def test_the_command_ends_with_its_container(running: RunningRuntime, tmp_path: Path) -> None:
    container_id = await (await running.pod()).start("sleep", "60")
    call = asyncio.ensure_future(
        running.client.exec_sync(container_id, ["sh", "-c", f"touch {tmp_path}/up; sleep 60"], 60)
    )
    await content(tmp_path / "up")
    await running.client.stop_container(container_id, 5)
    assert (await call).exit_code == 137


async def test_fifty_commands_at_once_each_get_their_own_answer(running: RunningRuntime) -> None:
    pods = [await running.pod(f"pod-{number}") for number in range(5)]
    containers = [await pod.start("sleep", "60") for pod in pods]
    answers = await asyncio.gather(
        *(
            running.client.exec_sync(containers[number % 5], ["sh", "-c", f"echo {number}; exit {number}"], 10)
            for number in range(50)
        )
    )
    assert [(answer.stdout, answer.exit_code) for answer in answers] == [(f"{n}\n".encode(), n) for n in range(50)]
