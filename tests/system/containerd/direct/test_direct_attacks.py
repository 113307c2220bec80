"""What a container could do to a process on its way in, by the names of the holes that others had."""

import asyncio
import fcntl
import os
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.system.containerd.direct.both import Both

pytestmark = pytest.mark.e2e

TRIES = 5_000
NAME = "/memfd:probelet-enter (deleted)"


@dataclass
class Caught:
    """A fork of the helper that was stopped inside a container, before it started its program."""

    pid: int
    inside: int
    """Its PID in the container."""
    uid: int
    descriptors: dict[int, str]
    cwd: str
    owner: int
    """The owner of its files in /proc: root if the process may not be looked into, otherwise its own user."""


class Trap(threading.Thread):
    """Stops a fork that has joined the container's namespaces and, if asked for, has become its user."""

    def __init__(self, helper: int, uid: int | None) -> None:
        super().__init__()
        self.caught: Caught | None = None
        self.over = threading.Event()
        self._children = Path(f"/proc/{helper}/task/{helper}/children")
        self._uid = uid

    def run(self) -> None:
        while not self.over.is_set() and self.caught is None:
            for child in self._children.read_text().split():
                # A child may end at any moment.
                with suppress(OSError):
                    os.kill(int(child), signal.SIGSTOP)
                    self.caught = self._look(int(child))
                if self.caught is not None:
                    return
                with suppress(OSError):
                    os.kill(int(child), signal.SIGCONT)

    def _look(self, pid: int) -> Caught | None:
        process = Path(f"/proc/{pid}")
        status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
        numbers, uid = status["NSpid"].split(), int(status["Uid"].split()[0])
        is_inside = len(numbers) == 2 and str((process / "exe").readlink()) == NAME
        if not is_inside or self._uid not in (None, uid) or status["State"][0] != "T":
            return None
        descriptors = {int(fd.name): str(fd.readlink()) for fd in (process / "fd").iterdir()}
        cwd, owner = str((process / "cwd").readlink()), (process / "environ").stat().st_uid
        return Caught(pid, int(numbers[1]), uid, descriptors, cwd, owner)


async def catch(both: Both, pod: str, uid: int | None = None) -> Caught:
    """Runs commands until one is caught on its way in. It stays stopped: continue it."""
    trap = Trap(both.helper, uid)
    trap.start()
    attempts: list[asyncio.Task[object]] = []
    try:
        for _ in range(TRIES):
            attempts.append(asyncio.create_task(both.directly(pod, ["true"])))
            await asyncio.wait(attempts[-1:], timeout=0.5)
            if trap.caught is not None:
                return trap.caught
    finally:
        trap.over.set()
        trap.join()
        for attempt in attempts:
            attempt.cancel()
    raise AssertionError(f"none of {TRIES} commands was caught")


async def test_cve_2016_9962_a_fork_inside_a_container_cannot_be_looked_into(both: Both) -> None:
    caught = await catch(both, "image-user", 1234)
    try:
        assert (caught.uid, caught.owner) == (1234, 0)
        reads = f"cd /proc/{caught.inside}; cat environ maps mem; ls fd; readlink exe cwd root"
        found = await both.over_the_runtime("image-user", ["sh", "-c", f"({reads}) 2> /dev/null"])
        assert found.output == b""
    finally:
        os.kill(caught.pid, signal.SIGCONT)


async def test_cve_2024_21626_a_fork_inside_a_container_has_no_descriptor_of_the_host(both: Both) -> None:
    caught = await catch(both, "image-user", 1234)
    try:
        null, *pipes = (caught.descriptors.pop(fd) for fd in (0, 1, 2))
        assert null == "/dev/null"
        (reports,) = caught.descriptors.values()
        assert all(name.startswith("pipe:") for name in (*pipes, reports))
        assert caught.cwd == "/"
    finally:
        os.kill(caught.pid, signal.SIGCONT)


async def test_cve_2019_5736_nobody_can_write_to_the_helpers_program(both: Both) -> None:
    path = f"/proc/{both.helper}/exe"
    assert str(Path(path).readlink()) == NAME
    with pytest.raises(OSError, match=r"Text file busy|Operation not permitted"):
        os.open(path, os.O_RDWR)
    program = os.open(path, os.O_RDONLY)
    seals = fcntl.fcntl(program, fcntl.F_GET_SEALS)
    os.close(program)
    assert seals == fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


async def test_a_container_with_ptrace_changes_no_program_but_its_own(both: Both) -> None:
    """As root with CAP_SYS_PTRACE, the fork's file can be reached; it is sealed and belongs to nobody."""
    caught = await catch(both, "ptrace")
    try:
        script = f"echo x > /proc/{caught.inside}/exe || echo x >> /proc/{caught.inside}/exe || echo refused"
        found = await both.over_the_runtime("ptrace", ["sh", "-c", f"({script}) 2> /dev/null"])
        assert found.output == b"refused\n"
    finally:
        os.kill(caught.pid, signal.SIGCONT)


async def test_no_descriptor_of_probelet_reaches_the_helper(both: Both) -> None:
    """They would be in every fork, even if only for a moment. One socket is probelet's."""
    names = [str(fd.readlink()) for fd in Path(f"/proc/{both.helper}/fd").iterdir()]
    assert sorted(name.partition(":")[0] for name in names) == ["/dev/null"] * 4 + ["anon_inode", "socket"]
