"""A command that the helper starts has the filter that runc gives its own: instruction by instruction."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from probelet.runtime.execs.direct.fallback import Reason
from probelet.runtime.execs.direct.program import helper_program

from tests.system.containerd.cgroups import cgroups_with
from tests.system.containerd.direct.both import Both, both_ways, eventually, specification
from tests.system.containerd.direct.loaded import loaded
from tests.system.containerd.direct.pods import PROFILED
from tests.system.containerd.direct.sleepers import commands_of
from tests.system.containerd.machine import Containerd, process_state, processes_with

pytestmark = pytest.mark.e2e

SECONDS = b"100789"
TRIES = 1200
"""runc puts the architectures of its ENOSYS rule into the filter in the order of a Go map, another one at each exec.
There are two or four orders, the rarest at one exec of 64 (7 of 300 were seen). The helper has the order of one exec of
runc, at times that one. Only this many execs without the helper's filter mean that none has it."""

Loaded = list[tuple[int, list[bytes]]]


async def filters_of(both: Both, pod: str, attempt: Callable[..., Awaitable[object]]) -> Loaded:
    """The filters of a command that is started in one of the ways."""
    task = asyncio.ensure_future(attempt(pod, ["sleep", SECONDS.decode()]))
    await eventually(lambda: commands_of(both.ids[pod], SECONDS) or task.done(), f"a command in {pod}")
    assert not task.done(), f"{task.result()} {both.fallbacks()}"
    (pid,) = commands_of(both.ids[pod], SECONDS)
    found = loaded(pid)
    os.kill(pid, signal.SIGKILL)
    await task
    await eventually(lambda: not commands_of(both.ids[pod], SECONDS), "its end")
    return found


@pytest.mark.parametrize("pod", PROFILED)
async def test_the_filter_is_one_of_runcs_instruction_by_instruction(both: Both, pod: str) -> None:
    directly = await filters_of(both, pod, both.directly)
    assert both.direct.counts.attempts == 1
    ((_, instructions),) = directly
    assert len(instructions) > 5
    for _ in range(TRIES):
        over_the_runtime = await filters_of(both, pod, both.over_the_runtime)
        # Whatever the order, nothing is more or less.
        assert [(flags, len(code)) for flags, code in over_the_runtime] == [
            (flags, len(code)) for flags, code in directly
        ]
        if over_the_runtime == directly:
            return
    raise AssertionError(f"none of {TRIES} execs of runc had the helper's filter")


async def test_the_filters_of_the_profiles_differ(both: Both) -> None:
    """Otherwise the comparison above would say nothing."""
    pods = ("runtime-default", "own-profile", "late-profile")
    assert len({str(await filters_of(both, pod, both.directly)) for pod in pods}) == 3


async def test_runc_is_asked_once_for_a_profile(both: Both) -> None:
    pods = ("runtime-default", "runtime-default-again")
    for pod in pods:
        await both.outcome(pod, ["true"])
    assert len(both.direct._containers._filters._known) == 1


async def test_nothing_is_left_of_the_container_that_was_asked(both: Both) -> None:
    def traces() -> set[str]:
        mounts = {line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()}
        cgroups = cgroups_with("probelet-enter-")
        return {name for name in mounts | cgroups if "probelet-enter" in name}

    await both.outcome("late-profile", ["true"])
    assert traces() == set()
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    programs = [(Path("/proc") / child / "cmdline").read_bytes() for child in children]
    assert not [program for program in programs if b"filter" in program]


@pytest.mark.parametrize("milliseconds", [0, 5, 10, 20, 30, 40, 50, 60, 80, 100, 150, 200])
async def test_nothing_is_left_when_the_program_that_asks_is_killed(both: Both, milliseconds: int) -> None:
    """Wherever it was: runc that makes the container, its process that waits, the cgroups."""

    def askers() -> list[int]:
        return processes_with(str(helper_program()), "filter")

    attempt = asyncio.create_task(both.directly("late-profile", ["true"]))
    await eventually(lambda: askers() or attempt.done(), "the program that asks runc")
    await asyncio.sleep(milliseconds / 1000)
    for pid in askers():
        # It may have ended since the look.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    found = await attempt
    assert found is not None or both.fallbacks() == {Reason.SECCOMP: 1}, "killed or, if it was too late, answered"
    assert cgroups_with("probelet-enter-") == set()
    assert left_over() == []


async def test_a_start_removes_what_an_earlier_process_left(containerd: Containerd, both: Both) -> None:
    asker, attempt = await stopped_asker(both)
    async with both_ways(containerd, both.ids):
        assert cgroups_with("probelet-enter-"), "its program lives"
    # Nobody removes them now.
    both.direct._filters._program = Path("/bin/true")
    os.kill(asker, signal.SIGKILL)
    await attempt
    assert cgroups_with("probelet-enter-")
    async with both_ways(containerd, both.ids):
        assert cgroups_with("probelet-enter-") == set()
        assert left_over() == []


async def stopped_asker(both: Both) -> tuple[int, "asyncio.Task[object]"]:
    """A program that asks runc, stopped while runc's cgroups exist, and the attempt that waits for it. Each profile is
    asked for once, and on a busy machine the program may have ended before the signal: then the next profile's."""
    for pod in PROFILED:
        attempt: asyncio.Task[object] = asyncio.create_task(both.directly(pod, ["true"]))
        asker = await caught(attempt)
        if asker is not None:
            return asker, attempt
        await attempt
    raise AssertionError(f"no program was caught in {len(PROFILED)} tries")


async def caught(attempt: "asyncio.Task[object]") -> int | None:
    """The program that asks runc for an attempt, stopped while runc's cgroups exist; None if it has ended."""

    def askers() -> list[int]:
        return processes_with(str(helper_program()), "filter")

    await eventually(lambda: askers() or attempt.done(), "the program that asks runc")
    for asker in askers():
        with suppress(OSError):
            # It is stopped during each of its calls of runc: the one that makes the container leaves the cgroups, and
            # the one that removes them begins when it goes on.
            while True:
                await eventually(lambda: runs(asker) or attempt.done(), "a call of runc")  # noqa: B023
                os.kill(asker, signal.SIGSTOP)
                await eventually(lambda: process_state(asker) == "T" and not runs(asker), "its end")  # noqa: B023
                if cgroups_with("probelet-enter-"):
                    return asker
                os.kill(asker, signal.SIGCONT)
    return None


def runs(asker: int) -> bool:
    """Whether one of its children runs. Raises OSError when it has ended."""
    children = Path(f"/proc/{asker}/task/{asker}/children").read_text().split()
    return any(lives(int(child)) for child in children)


def lives(pid: int) -> bool:
    """Whether there is a process that has not ended."""
    with suppress(OSError):
        return process_state(pid) != "Z"
    return False


def left_over() -> list[bytes]:
    """The cgroups of processes of samples that have not ended. A zombie waits for the machine's init."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            cgroup = (process / "cgroup").read_bytes()
            if b"probelet-enter-" in cgroup and process_state(int(process.name)) != "Z":
                found.append(cgroup)
    return found


COMMANDS = {
    "an error of the profile's own": ["sh", "-c", "mkdir /tmp/made && rmdir /tmp/made"],
    "the usual error": ["unshare", "-m", "true"],
    "killed": ["sync"],
    "trapped": ["sh", "-c", "ln -s a /tmp/link && rm /tmp/link"],
    "an argument": ["sh", "-c", "ping -c 1 -W 1 127.0.0.1 > /dev/null"],
    "a tracer that is missing": ["sh", "-c", "mkdir -p /tmp/asked && rmdir /tmp/asked"],
}


@pytest.mark.parametrize("name", COMMANDS)
async def test_a_command_under_a_profile_has_the_same_outcome_both_ways(both: Both, name: str) -> None:
    for pod in PROFILED:
        directly = await both.outcome(pod, COMMANDS[name])
        assert directly == await both.over_the_runtime(pod, COMMANDS[name]), pod


async def test_the_profile_forbids(both: Both) -> None:
    """The outcomes above are the profile's and not the container's."""
    found = [await both.outcome("own-profile", command) for command in COMMANDS.values()]
    assert [outcome.exit_code for outcome in found[:4]] == [1, 1, 159, 159]
    assert b"No space left on device" in found[0].output
    assert b"Address family not supported by protocol" in found[4].output


async def test_the_specification_of_each_has_a_profile(both: Both, containerd: Containerd) -> None:
    for pod in PROFILED:
        assert specification(containerd, both.ids[pod])["linux"]["seccomp"]["defaultAction"]
