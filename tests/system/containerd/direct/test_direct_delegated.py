"""A container that gives controllers to cgroups of its own, as systemd in a container does, takes no process into its
own cgroup of version 2."""

import asyncio
import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.system.containerd.direct.both import Both, eventually
from tests.system.containerd.direct.cgroups import cgroup_of, unified_mount
from tests.system.containerd.direct.sleepers import commands_of
from tests.system.containerd.machine import Containerd

pytestmark = pytest.mark.e2e

POD = "delegating"
SLEEP = b"100789"


@contextmanager
def given(cgroup: Path, controller: str) -> Iterator[None]:
    """Gives a controller to the cgroups below one, unless they have it."""
    control = cgroup / "cgroup.subtree_control"
    if controller in control.read_text().split():
        yield
        return
    control.write_text(f"+{controller}")
    yield
    # A neighbour's cgroup may use it by now.
    with suppress(OSError):
        control.write_text(f"-{controller}")


@pytest.fixture
def delegated(both: Both, containerd: Containerd) -> Iterator[Path]:
    """The cgroup of the container's first process, below the container's own."""
    mount, own = unified_mount(), cgroup_of(containerd, both.ids[POD])
    controllers = (mount / "cgroup.controllers").read_text().split()
    controller = next((name for name in ("hugetlb", "memory", "io") if name in controllers), "")
    if not controller:
        pytest.skip("version 2 has no controller that a cgroup could give")
    below = own / "init.scope"
    below.mkdir()
    pid = str(containerd.pid_of(both.ids[POD]))
    (below / "cgroup.procs").write_text(pid)
    with ExitStack() as stack:
        for cgroup in [*reversed([parent for parent in own.parents if parent.is_relative_to(mount)]), own]:
            stack.enter_context(given(cgroup, controller))
        yield below
    (own / "cgroup.procs").write_text(pid)
    below.rmdir()


async def test_a_command_joins_the_cgroup_of_the_first_process(both: Both, delegated: Path) -> None:
    with pytest.raises(OSError, match=os.strerror(errno.EBUSY)):
        (delegated.parent / "cgroup.procs").write_text("0")
    attempt = asyncio.create_task(both.outcome(POD, ["sleep", SLEEP.decode()], seconds=2))
    await eventually(lambda: commands_of(both.ids[POD], SLEEP), "the command")
    (pid,) = commands_of(both.ids[POD], SLEEP)
    assert str(pid) in (delegated / "cgroup.procs").read_text().split()
    # It is in the container's cgroups of version 1, where there are any.
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    assert all(line.endswith(("/", both.ids[POD])) for line in lines if not line.startswith("0::"))
    assert (await attempt).kind == "timeout"
    await eventually(lambda: not commands_of(both.ids[POD], SLEEP), "the end of the command")


async def test_it_has_no_leaf(both: Both, delegated: Path) -> None:
    assert (await both.outcome(POD, ["true"])).exit_code == 0
    assert not list(delegated.glob("probelet-*"))
