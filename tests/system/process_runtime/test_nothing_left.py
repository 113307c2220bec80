"""No process, file or socket of the runtime outlives it, whichever process dies first."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from probelet.runtime.cri import RuntimeClient
from probelet.runtime.embedded.child import process_tree
from probelet.runtime.embedded.launch import launch

from tests.system.process_runtime.conftest import RunningRuntime, content, entries, left_of, python

pytestmark = pytest.mark.e2e


class Owned:
    """An owner program with its runtime, and every process below it."""

    def __init__(self, owner: Process, guard: int) -> None:
        self.owner, self.guard = owner, guard
        self.seen = {owner.pid, guard}
        self.escaped: set[int] = set()

    @property
    def runtime(self) -> int:
        return min(row.pid for row in process_tree.processes().values() if row.parent == self.guard)

    def below(self) -> set[int]:
        """Guard, runtime, and every process of every container."""
        found = {self.guard, *(row.pid for row in process_tree.descendants(self.guard))}
        self.seen |= found
        return found


Own = Callable[..., Awaitable[Owned]]


@pytest.fixture
async def own(state_dir: Path) -> AsyncIterator[Own]:
    """``await own(count, *command)`` starts an owner of ``count`` pods. The fixture kills all left processes."""
    trees: list[Owned] = []

    async def start(count: int, *command: str) -> Owned:
        owner = await asyncio.create_subprocess_exec(*python("owner.py", state_dir, count, *command), stdout=PIPE)
        assert owner.stdout is not None
        trees.append(Owned(owner, int(await owner.stdout.readline())))
        return trees[-1]

    yield start
    for tree in trees:
        for pid in left_of(tree.seen, 0.01):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await tree.owner.wait()


async def escapees(own: Own, state_dir: Path, *options: str) -> Owned:
    """Three containers, each with a process that left it: ``escaped``."""
    tree = await own(3, *python("escapee.py", state_dir / "escaped-{}", *options))
    tree.escaped = {int(await content(state_dir / f"escaped-{number}")) for number in range(3)}
    assert tree.escaped < tree.below()
    return tree


@pytest.mark.parametrize("options", [[], ["--without-environment"]], ids=["marked", "unmarked"])
async def test_everything_is_gone_after_the_owner_was_killed(own: Own, options: list[str], state_dir: Path) -> None:
    tree = await escapees(own, state_dir, *options)
    processes = tree.below()
    tree.owner.kill()
    assert left_of(processes) == set()
    assert not (state_dir / "runtime").exists()


async def test_everything_is_gone_after_the_runtime_was_killed(own: Own, state_dir: Path) -> None:
    tree = await escapees(own, state_dir)
    processes = tree.below()
    os.kill(tree.runtime, signal.SIGKILL)
    assert left_of(processes) == set()
    assert not (state_dir / "runtime").exists()


async def test_everything_is_gone_after_the_guard_was_killed(own: Own, state_dir: Path) -> None:
    tree = await escapees(own, state_dir)
    processes = tree.below()
    os.kill(tree.guard, signal.SIGKILL)
    assert left_of(processes) == set()
    assert not (state_dir / "runtime").exists()


async def test_a_stopped_guard_does_not_save_the_containers(own: Own, state_dir: Path) -> None:
    tree = await escapees(own, state_dir)
    os.kill(tree.guard, signal.SIGSTOP)
    try:
        tree.owner.kill()
        assert left_of(tree.escaped) == set()
    finally:
        os.kill(tree.guard, signal.SIGCONT)
    assert left_of({tree.guard}) == set()


async def test_what_guard_and_runtime_left_when_killed_together_ends_with_the_next_start(
    own: Own, state_dir: Path
) -> None:
    tree = await escapees(own, state_dir)
    runtime = tree.runtime
    # The test stops both first, so that neither sees the other die.
    for pid in (tree.guard, runtime):
        os.kill(pid, signal.SIGSTOP)
    for pid in (tree.guard, runtime):
        os.kill(pid, signal.SIGKILL)
    assert left_of({tree.guard, runtime}) == set()
    assert left_of(tree.escaped, 0.05) == tree.escaped
    runtime_again = await launch(state_dir)
    assert left_of(tree.escaped) == set()
    async with RuntimeClient(runtime_again.endpoint) as client:
        assert await client.list_containers() == []
    await runtime_again.aclose()
    assert not (state_dir / "runtime").exists()


async def test_a_new_owner_may_start_while_the_old_runtime_still_dies(own: Own, state_dir: Path) -> None:
    tree = await own(3, "sleep", "60")
    processes = tree.below()
    tree.owner.kill()
    runtime = await launch(state_dir)
    assert left_of(processes) == set()
    await runtime.aclose()


async def test_two_hundred_pods_are_gone_after_the_owner_was_killed(own: Own) -> None:
    tree = await own(200, "sh", "-c", "trap '' TERM; while :; do sleep 5; done")
    processes = tree.below()
    assert len(processes) > 200, "a shell each, which has its sleep beside it most of the time"
    tree.owner.kill()
    assert left_of(processes) == set()


async def test_a_stray_ends_with_its_container_and_only_with_that(running: RunningRuntime, state_dir: Path) -> None:
    pids = {}
    for name in ("one", "two"):
        container_id = await (await running.pod(name)).start(*python("escapee.py", state_dir / name))
        pids[name] = int(await content(state_dir / name))
        if name == "one":
            first = container_id
    await running.client.stop_container(first, 5)
    assert (await running.status(first)).exit_code == 143
    assert left_of([pids["one"]]) == set()
    assert left_of([pids["two"]], 0.05) == {pids["two"]}
    for name in pids:
        (state_dir / name).unlink()


RELAY = """
import os, pathlib, sys
pathlib.Path(sys.argv[1]).touch()
while os.path.exists(sys.argv[1]) and os.fork() == 0:
    if sys.argv[2:]:
        os.setsid()
"""
"""Each process starts the next and exits: none lives long enough for the runtime to find its pid and kill it.

The relay ends with its file, so that a test that fails leaves no relay on the machine.
"""


async def test_a_relay_of_processes_ends_with_its_container(running: RunningRuntime, state_dir: Path) -> None:
    start = f'"$0" -c "$1" {state_dir}/up & sleep 60'
    container_id = await (await running.pod()).start("sh", "-c", start, sys.executable, RELAY)
    await content(state_dir / "up")
    await running.client.stop_container(container_id, 0)
    assert [process_tree.descendants(running.runtime_pid) for _ in range(20)] == [[]] * 20
    (state_dir / "up").unlink()


async def test_a_relay_of_sessions_ends_with_the_owner(own: Own, state_dir: Path) -> None:
    tree = await own(1, "sh", "-c", f'"$0" -c "$1" {state_dir}/up setsid & sleep 60', sys.executable, RELAY)
    await content(state_dir / "up")
    # Another test may run a relay at the same moment: the directory tells them apart.
    processes, mark = tree.below(), os.fsencode(state_dir)
    tree.owner.kill()
    assert left_of(processes) == set()
    # One listing may miss a process that lives for a millisecond.
    for _ in range(20):
        assert [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark in bytes_of(path)] == []


def bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def open_files(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


async def test_hundreds_of_runs_leave_no_file_open(running: RunningRuntime) -> None:
    pod, runtime = await running.pod(), running.runtime_pid
    container_id = await pod.start("sleep", "60")
    await running.client.exec_sync(container_id, ["true"], 5)
    before = open_files(runtime)
    for number in range(100):
        await running.client.exec_sync(container_id, ["sh", "-c", "echo hello"], 5)
        short_lived = await pod.start("sh", "-c", "echo hello", name=f"short-{number}")
        await running.exited(short_lived)
        await running.client.remove_container(short_lived)
    with pytest.raises(Exception, match="not found"):
        await running.client.exec_sync(container_id, ["no-such-program"], 5)
    assert open_files(runtime) == before
    await running.client.remove_pod_sandbox(pod.id)
    assert open_files(runtime) < before


async def test_a_container_inherits_no_file_of_the_runtime(running: RunningRuntime) -> None:
    pod = await running.pod()
    container_id = await pod.start("sh", "-c", "ls -l /proc/self/fd; sleep 60")
    answer = await running.client.exec_sync(container_id, ["sh", "-c", "ls /proc/self/fd | wc -l"], 5)
    # Files 0, 1, 2, and the directory that ls reads.
    assert answer.stdout.strip() == b"4"


async def test_closing_leaves_nothing_and_may_be_repeated(state_dir: Path) -> None:
    runtime = await launch(state_dir)
    async with RuntimeClient(runtime.endpoint) as client:
        await (RunningRuntime(runtime, client)).pod()
    await runtime.aclose()
    await runtime.aclose()
    assert await runtime.wait() == 0
    assert entries(state_dir) == []


async def test_a_dead_runtime_is_reported(state_dir: Path, capfd: pytest.CaptureFixture[str]) -> None:
    runtime = await launch(state_dir)
    child = min(row.pid for row in process_tree.descendants(runtime.process.pid))
    os.kill(child, signal.SIGKILL)
    assert await runtime.wait() == 1
    assert capfd.readouterr().err == (
        "probelet embedded runtime: ended unexpectedly (exit code -9); its containers are killed\n"
    )
    await runtime.aclose()
