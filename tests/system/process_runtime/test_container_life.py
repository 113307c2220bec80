"""Containers as processes: their environment, their ends, and the statuses that the runtime reports."""

import signal
import sys
import time
from pathlib import Path

import pytest
from probelet.runtime.cri import RuntimeClient, errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.launch import launch

from tests.system.process_runtime.conftest import RunningRuntime, content, entries, left_of

pytestmark = pytest.mark.e2e


async def test_a_container_gets_its_command_environment_directory_and_log(
    running: RunningRuntime, tmp_path: Path
) -> None:
    pod = await running.pod()
    container_id = await pod.start(
        "sh",
        "-c",
        'echo "$0 $COLOUR $POD_IP"; pwd >&2; cat; printf end',
        args=["argument"],
        working_dir=str(tmp_path),
        envs=[api_pb2.KeyValue(key="COLOUR", value=b"blue")],
    )
    status = await running.exited(container_id)
    assert (status.exit_code, status.reason, status.message) == (0, "Completed", "")
    assert sorted(pod.log()) == [f"stderr F {tmp_path}", f"stdout F argument blue {pod.ip}", "stdout P end"]
    assert 0 < status.created_at <= status.started_at <= status.finished_at


@pytest.mark.parametrize(
    ("script", "exit_code", "reason"),
    [("exit 0", 0, "Completed"), ("exit 3", 3, "Error"), ("kill -9 $$", 137, "Error"), ("kill -15 $$", 143, "Error")],
)
async def test_exit_codes_and_signals(script: str, exit_code: int, reason: str, running: RunningRuntime) -> None:
    container_id = await (await running.pod()).start("sh", "-c", script)
    status = await running.exited(container_id)
    assert (status.exit_code, status.reason) == (exit_code, reason)


async def test_stop_sends_sigterm_to_the_whole_group(running: RunningRuntime, tmp_path: Path) -> None:
    script = f"sleep 60 & echo $! > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; wait"
    container_id = await (await running.pod()).start("sh", "-c", script)
    child = int(await content(tmp_path / "pid"))
    await running.client.stop_container(container_id, 30)
    assert (await running.status(container_id)).exit_code == 143
    assert left_of([child]) == set()


async def test_a_stop_signal_of_its_own_comes_first(running: RunningRuntime, tmp_path: Path) -> None:
    program = (
        "import pathlib, signal, sys; signal.signal(signal.SIGUSR1, lambda *_: sys.exit(7)); "
        f"pathlib.Path({str(tmp_path / 'ready')!r}).touch(); signal.pause()"
    )
    container_id = await (await running.pod()).start(sys.executable, "-c", program, stop_signal=api_pb2.SIGNAL_SIGUSR1)
    await content(tmp_path / "ready")
    await running.client.stop_container(container_id, 30)
    assert (await running.status(container_id)).exit_code == 7


async def test_a_signal_that_the_runtime_was_started_with_ignored_is_not_ignored_in_a_container(
    state_dir: Path,
) -> None:
    """A shell that starts probelet in the background ignores SIGINT for it, and nohup ignores SIGHUP."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGHUP, signal.SIGQUIT)}
    try:
        runtime = await launch(state_dir)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    async with RuntimeClient(runtime.endpoint) as client:
        pod = await RunningRuntime(runtime, client).pod()
        for name, number in (("hangs-up", "HUP"), ("quits", "QUIT")):
            container_id = await pod.start("sh", "-c", f"trap 'exit 7' {number}; kill -{number} $$; exit 1", name=name)
            assert (await RunningRuntime(runtime, client).exited(container_id)).exit_code == 7
    await runtime.aclose()


async def test_a_container_that_ignores_sigterm_gets_sigkill_after_the_grace(
    running: RunningRuntime, tmp_path: Path
) -> None:
    container_id = await (await running.pod()).start(
        "sh", "-c", f"trap '' TERM; touch {tmp_path}/ready; while :; do sleep 0.1; done"
    )
    await content(tmp_path / "ready")
    begun = time.monotonic()
    await running.client.stop_container(container_id, 1)
    assert time.monotonic() - begun >= 1
    assert (await running.status(container_id)).exit_code == 137


async def test_a_stop_without_grace_sends_sigkill_at_once(running: RunningRuntime) -> None:
    container_id = await (await running.pod()).start("sleep", "60")
    await running.client.stop_container(container_id, 0)
    status = await running.status(container_id)
    assert (status.state, status.exit_code) == (api_pb2.CONTAINER_EXITED, 137)


async def test_a_second_stop_and_a_stop_of_an_unknown_container_succeed(running: RunningRuntime) -> None:
    container_id = await (await running.pod()).start("true")
    await running.exited(container_id)
    await running.client.stop_container(container_id, 5)
    await running.client.stop_container("unknown", 5)
    await running.client.remove_container("unknown")
    await running.client.stop_pod_sandbox("unknown")
    await running.client.remove_pod_sandbox("unknown")
    assert (await running.status(container_id)).exit_code == 0


@pytest.mark.parametrize(
    ("command", "working_dir", "message"),
    [
        ("no-such-program", "", 'exec: "no-such-program": executable file not found in $PATH'),
        ("/no/such/program", "", 'exec: "/no/such/program": no such file or directory'),
        ("/etc/passwd", "", 'exec: "/etc/passwd": permission denied'),
        ("true", "/no/such/directory", 'chdir to cwd ("/no/such/directory") failed: no such file or directory'),
    ],
)
async def test_a_command_that_cannot_start_is_an_error_and_a_start_error(
    command: str, working_dir: str, message: str, running: RunningRuntime
) -> None:
    container_id = await (await running.pod()).create(command, working_dir=working_dir)
    with pytest.raises(errors.RuntimeRefused) as caught:
        await running.client.start_container(container_id)
    status = await running.status(container_id)
    assert caught.value.detail == status.message == f'failed to start container "{container_id}": {message}'
    assert (status.state, status.exit_code, status.reason) == (api_pb2.CONTAINER_EXITED, 128, "StartError")
    assert status.started_at == 0 < status.finished_at


async def test_a_container_without_a_command_is_refused_by_name(running: RunningRuntime) -> None:
    pod = await running.pod()
    with pytest.raises(errors.InvalidArgument, match='container "web": no command: the embedded runtime has no images'):
        await pod.create(name="web", args=["--verbose"])


async def test_a_container_starts_once(running: RunningRuntime) -> None:
    container_id = await (await running.pod()).start("sleep", "60")
    with pytest.raises(errors.FailedPrecondition, match="container is in CONTAINER_RUNNING state"):
        await running.client.start_container(container_id)


async def test_a_log_path_cannot_leave_its_directory(running: RunningRuntime) -> None:
    pod = await running.pod()
    config = api_pb2.ContainerConfig(
        metadata=api_pb2.ContainerMetadata(name="app"), command=["true"], log_path="../../elsewhere.log"
    )
    with pytest.raises(errors.InvalidArgument, match="must stay inside the log directory"):
        await running.client.create_container(pod.id, config, pod.config)


async def test_a_removed_container_is_gone_and_leaves_its_log_to_the_client(running: RunningRuntime) -> None:
    pod = await running.pod()
    container_id = await pod.start("sh", "-c", "echo hello; sleep 60")
    await running.client.remove_container(container_id)
    with pytest.raises(errors.NotFound, match="not found"):
        await running.status(container_id)
    assert [path.name for path in entries(Path(pod.config.log_directory))] == ["0.log"]
    assert await running.client.list_containers() == []


async def test_a_chatty_container_is_slowed_down_and_the_others_are_not(running: RunningRuntime) -> None:
    pod = await running.pod()
    await pod.start("yes", name="chatty")
    quiet = await pod.start("sleep", "60", name="quiet")
    for _ in range(50):
        assert (await running.client.exec_sync(quiet, ["true"], 5)).exit_code == 0
    assert sum(path.stat().st_size for path in entries(Path(pod.config.log_directory))) < 20 * 1024 * 1024
