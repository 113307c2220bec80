"""A command has a cgroup of its own in the hierarchy of version 2, so that its timeout ends whatever it has started."""

import asyncio
from pathlib import Path

import pytest
from probelet.runtime.cri.exec import ExecOutcome

from tests.system.containerd.direct.both import Both, eventually
from tests.system.containerd.direct.cgroups import cgroup_of
from tests.system.containerd.direct.sleepers import commands_of
from tests.system.containerd.machine import Containerd

pytestmark = pytest.mark.e2e

LEFT, KILLED = b"100456", b"100457"


@pytest.fixture
def cgroup(both: Both, containerd: Containerd) -> Path:
    """The cgroup of version 2 of a container that nothing else uses."""
    return cgroup_of(containerd, both.ids["leafed"])


def escaping(seconds: bytes) -> list[str]:
    """A command that starts a process in a session of its own and then waits for ever."""
    return ["sh", "-c", f"setsid sleep {seconds.decode()} > /dev/null 2>&1 < /dev/null & exec sleep 100458"]


async def test_a_timeout_ends_processes_that_have_left_the_process_group(both: Both, cgroup: Path) -> None:
    found = await both.outcome("leafed", escaping(KILLED), seconds=1)
    assert found.kind == "timeout"
    await eventually(lambda: not commands_of(both.ids["leafed"], KILLED), "the end of the process")
    await eventually(lambda: not (cgroup / "probelet-0" / "cgroup.procs").read_text(), "the end of the others")


async def test_a_timeout_leaves_alone_what_an_earlier_command_has_started(both: Both, cgroup: Path) -> None:
    left = f"setsid sleep {LEFT.decode()} > /dev/null 2>&1 < /dev/null & true"
    assert (await both.outcome("leafed", ["sh", "-c", left])).exit_code == 0
    assert (await both.outcome("leafed", escaping(KILLED), seconds=1)).kind == "timeout"
    await eventually(lambda: not commands_of(both.ids["leafed"], KILLED), "the end of the process")
    assert len(commands_of(both.ids["leafed"], LEFT)) == 1
    assert (await both.outcome("leafed", ["killall", "sleep"])).exit_code == 0


async def test_a_container_has_a_few_leaves_without_controllers(both: Both, cgroup: Path) -> None:
    async def attempt(number: int) -> ExecOutcome:
        return await both.outcome("leafed", ["sh", "-c", f"sleep 0.2; exit {number}"])

    found = await asyncio.gather(*map(attempt, range(20)))
    assert [outcome.exit_code for outcome in found] == list(range(20))
    leaves = sorted(path.name for path in cgroup.iterdir() if path.is_dir())
    assert leaves == [f"probelet-{number}" for number in range(4)]
    assert (cgroup / "cgroup.subtree_control").read_text().split() == []
    assert (cgroup / "probelet-0" / "cgroup.controllers").read_text().split() == []
