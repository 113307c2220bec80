"""Containers, helpers and machines that misbehave."""

import asyncio
import os
import signal
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from probelet.runtime.execs.direct.fallback import Reason

from tests.system.containerd.direct.both import Both, eventually
from tests.system.containerd.direct.sleepers import commands_of, sleepers_of
from tests.system.containerd.machine import Containerd

pytestmark = pytest.mark.e2e

# Where the description of a container has its PID, start time and namespaces (container.py: described).
PID, START_TIME, NAMESPACES = 68, 72, 80


@contextmanager
def paused(containerd: Containerd, container_id: str) -> Iterator[None]:
    containerd.ctr("tasks", "pause", container_id)
    try:
        yield
    finally:
        containerd.ctr("tasks", "resume", container_id)


async def test_a_paused_container_is_the_runtimes_to_word(both: Both, containerd: Containerd) -> None:
    with paused(containerd, both.ids["victim"]):
        assert await both.falls_back("victim") is Reason.PAUSED
    assert (await both.outcome("victim", ["true"])).exit_code == 0


async def test_a_container_that_may_have_no_more_processes(both: Both) -> None:
    limit = Path(f"/sys/fs/cgroup/pids/k8s.io/{both.ids['victim']}/pids.max")
    if not limit.exists():
        pytest.skip("cgroup v2: the test names the file of version 1")
    limit.write_text("1")
    try:
        assert await both.falls_back("victim") is Reason.SETUP
    finally:
        limit.write_text("max")
    assert (await both.outcome("victim", ["true"])).exit_code == 0


async def test_a_command_that_takes_too_much_memory_is_killed_both_ways(both: Both) -> None:
    command = ["tail", "/dev/zero"]
    outcome = await both.outcome("limited", command)
    assert (outcome.kind, outcome.exit_code) == ("exit", 137)
    assert outcome == await both.over_the_runtime("limited", command)


async def test_fifty_commands_at_once_in_one_container(both: Both) -> None:
    outcomes = await asyncio.gather(*(both.outcome("bare", ["sh", "-c", f"echo {n}; exit {n}"]) for n in range(50)))
    assert [(found.exit_code, found.output) for found in outcomes] == [(n, b"%d\n" % n) for n in range(50)]


async def test_a_first_process_that_has_changed_its_root_is_the_runtimes_to_judge(both: Both) -> None:
    assert await both.falls_back("jailed") is Reason.ROOT


@pytest.mark.parametrize(
    ("at", "change", "reason"),
    [
        # With nobody's start time, because both containers may have started in the same hundredth of a second.
        (PID, lambda bare, other: other[PID : PID + 4] + struct.pack("<Q", 1), Reason.IDENTITY),
        (PID, lambda bare, other: other[PID : PID + 12], Reason.CGROUP),
        (PID, lambda bare, other: struct.pack("<i", 2**22 - 1), Reason.IDENTITY),
        (START_TIME, lambda bare, other: struct.pack("<Q", 1), Reason.IDENTITY),
        (NAMESPACES, lambda bare, other: struct.pack("<i", 0x00020000), Reason.NAMESPACES),
        # A user namespace is never joined.
        (NAMESPACES, lambda bare, other: struct.pack("<i", 0x7C020000), Reason.NAMESPACES),
    ],
    ids=["another-pid", "another-container", "no-process", "another-start", "too-few-namespaces", "user-namespace"],
)
async def test_a_process_that_is_not_the_containers_first_is_refused(
    both: Both, at: int, change: Callable[[bytes, bytes], bytes], reason: Reason
) -> None:
    await both.outcome("bare", ["true"])
    await both.outcome("neighbour", ["true"])
    known = both.direct._containers._known
    bare, other = known[both.name("bare")], known[both.name("neighbour")]
    assert isinstance(bare, bytes)
    assert isinstance(other, bytes)
    changed = change(bare, other)
    known[both.name("bare")] = bare[:at] + changed + bare[at + len(changed) :]
    assert await both.falls_back("bare") is reason
    # What was wrong is read again.
    assert (await both.outcome("bare", ["true"])).exit_code == 0


async def test_a_first_process_that_ends_in_mid_probe_takes_the_command_with_it(
    both: Both, containerd: Containerd
) -> None:
    attempt = asyncio.create_task(both.directly("victim", ["sh", "-c", "echo began; exec sleep 100000"]))
    other = asyncio.create_task(both.over_the_runtime("victim", ["sh", "-c", "echo began; exec sleep 100000"]))
    await eventually(lambda: len(sleepers_of(both.ids["victim"])) == 3, "both commands beside the first process")
    first = containerd.pid_of(both.ids["victim"])
    os.kill(first, signal.SIGKILL)
    found = await attempt
    assert found is not None
    assert (found.kind, found.exit_code, found.output) == ("exit", 137, b"began\n")
    assert (await other).exit_code in (137, -1)
    await eventually(lambda: not Path(f"/proc/{first}").exists(), "the end of the first process, which its shim awaits")
    # The kubelet makes a new container; of the old one the runtime says what it knows.
    assert await both.falls_back("victim") is Reason.IDENTITY


async def test_a_helper_that_is_killed_takes_its_commands_along_and_is_replaced(both: Both) -> None:
    attempt = asyncio.create_task(both.directly("neighbour", ["sleep", "100321"]))
    await eventually(lambda: commands_of(both.ids["neighbour"], b"100321"), "the command")
    before = both.helper
    os.kill(before, signal.SIGKILL)
    found = await attempt
    assert found is not None
    assert found.kind == "error"
    assert found.output.startswith(b"the helper of exec probes was lost: ")
    await eventually(lambda: not commands_of(both.ids["neighbour"], b"100321"), "the end of the command")
    await both.another_helper(before)
    assert (await both.outcome("neighbour", ["true"])).exit_code == 0
    assert both.direct.counts.starts == 2


async def test_a_helper_that_answers_no_ping_is_replaced(both: Both) -> None:
    await both.outcome("bare", ["true"])
    before = both.helper
    os.kill(before, signal.SIGSTOP)
    found = await both.directly("bare", ["true"])
    assert found is not None
    assert found.kind == "error"
    await both.another_helper(before)
    assert (await both.outcome("bare", ["true"])).exit_code == 0


async def test_while_there_is_no_helper_attempts_go_over_the_runtime(both: Both) -> None:
    os.kill(both.helper, signal.SIGKILL)
    await eventually(lambda: not both.is_ready, "the end of the helper")
    assert await both.falls_back("bare") is Reason.HELPER
