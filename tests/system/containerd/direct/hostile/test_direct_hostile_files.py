"""A container that has changed the files that a command needs: whatever it does, the helper and the runtime come to the
same outcome, and neither waits for what the container put there."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_SECONDS
from tests.system.containerd.direct.both import Both
from tests.system.containerd.machine import Containerd

pytestmark = pytest.mark.e2e

SECONDS = 5
COMMANDS = (
    ["true"],
    ["sh", "-c", "echo $HOME; exit 3"],
    ["/bin/sh", "-c", "id -u"],
    ["cat", "/etc/hostname"],
    ["nowhere"],
)

# What root in a container does to its own files, and how it is undone.
FILES = {
    "the shell is a script of its own": (
        "mv /bin/sh /bin/sh.old && printf '#!/bin/busybox cat\\n' > /bin/sh && chmod 755 /bin/sh",
        "mv /bin/sh.old /bin/sh",
    ),
    "the shell is a script whose interpreter is itself": (
        "mv /bin/sh /bin/sh.old && printf '#!/bin/sh\\n' > /bin/sh && chmod 755 /bin/sh",
        "mv /bin/sh.old /bin/sh",
    ),
    "the shell is a directory": ("mv /bin/sh /bin/sh.old && mkdir /bin/sh", "rmdir /bin/sh && mv /bin/sh.old /bin/sh"),
    "the shell is a pipe": ("mv /bin/sh /bin/sh.old && mkfifo /bin/sh", "rm /bin/sh && mv /bin/sh.old /bin/sh"),
    "the shell is a link in a circle": (
        "mv /bin/sh /bin/sh.old && ln -s sh /bin/sh",
        "rm /bin/sh && mv /bin/sh.old /bin/sh",
    ),
    "the shell has no format": (
        "mv /bin/sh /bin/sh.old && head -c 4096 /dev/urandom > /bin/sh && chmod 755 /bin/sh",
        "mv /bin/sh.old /bin/sh",
    ),
    "the shell is empty": (
        "mv /bin/sh /bin/sh.old && : > /bin/sh && chmod 755 /bin/sh",
        "mv /bin/sh.old /bin/sh",
    ),
    "the loader's own list": (
        "printf '/tmp/evil.so\\n' > /etc/ld.so.preload; mkfifo /tmp/evil.so",
        "rm /etc/ld.so.preload /tmp/evil.so",
    ),
    "passwd is a pipe": ("mv /etc/passwd /etc/p && mkfifo /etc/passwd", "rm /etc/passwd && mv /etc/p /etc/passwd"),
    "passwd is a link to a device": (
        "mv /etc/passwd /etc/p && ln -s /dev/zero /etc/passwd",
        "rm /etc/passwd && mv /etc/p /etc/passwd",
    ),
    "passwd is a link in a circle": (
        "mv /etc/passwd /etc/p && ln -s passwd /etc/passwd",
        "rm /etc/passwd && mv /etc/p /etc/passwd",
    ),
    "passwd is a directory": (
        "mv /etc/passwd /etc/p && mkdir /etc/passwd",
        "rmdir /etc/passwd && mv /etc/p /etc/passwd",
    ),
    "passwd leads to the terminal": (
        "mv /etc/passwd /etc/p && ln -s /dev/tty /etc/passwd",
        "rm /etc/passwd && mv /etc/p /etc/passwd",
    ),
    "passwd gives root a home with a line break": (
        "mv /etc/passwd /etc/p && printf 'root:x:0:0:root:/a\\tb c:/bin/sh\\n' > /etc/passwd",
        "rm /etc/passwd && mv /etc/p /etc/passwd",
    ),
    "passwd has ten megabytes": (
        "mv /etc/passwd /etc/p && head -c 10000000 /dev/zero | tr '\\0' 'x' > /etc/passwd",
        "rm /etc/passwd && mv /etc/p /etc/passwd",
    ),
    "/dev/null is a pipe": ("rm /dev/null && mkfifo /dev/null", "rm /dev/null && mknod -m 666 /dev/null c 1 3"),
}


@pytest.mark.parametrize("name", FILES)
async def test_both_ways_come_to_the_same(both: Both, containerd: Containerd, name: str) -> None:
    change, undo = FILES[name]
    root = Path(f"/proc/{containerd.pid_of(both.ids['victim'])}/root")
    within(root, change)
    try:
        for command in COMMANDS:
            before = asyncio.get_running_loop().time()
            directly = await both.directly("victim", command, SECONDS)
            took = asyncio.get_running_loop().time() - before
            assert took < SECONDS, f"{command} waited for what the container put there"
            # What the helper leaves to the runtime is the runtime's: runc waits for a pipe in the place of passwd.
            if directly is not None:
                over_the_runtime = await both.over_the_runtime("victim", command, SECONDS)
                assert (directly.kind, directly.exit_code) == (over_the_runtime.kind, over_the_runtime.exit_code), (
                    command
                )
                assert directly.output == over_the_runtime.output, command
        # The next container notices nothing.
        assert (await both.outcome("bare", ["true"])).exit_code == 0
    finally:
        within(root, undo)


async def test_a_command_that_is_the_helpers_own_program_runs_as_any_program(
    both: Both, containerd: Containerd
) -> None:
    """A link to /proc/self/exe leads to the helper's program, as to runc in an exec of runc (CVE-2019-5736)."""
    root = Path(f"/proc/{containerd.pid_of(both.ids['victim'])}/root")
    within(root, "ln -s /proc/self/exe /bin/itself")
    try:
        found = await both.outcome("victim", ["itself"], SECONDS)
        assert (found.kind, found.exit_code) == ("exit", 2)
        assert found.output == b"probelet-enter: is started by probelet, with a socket as descriptor 3\n"
        assert (await both.outcome("victim", ["true"])).exit_code == 0
    finally:
        within(root, "rm /bin/itself")


def within(root: Path, script: str) -> None:
    """Runs a script on a container's files, from outside."""
    subprocess.run(["chroot", root, "/bin/busybox", "sh", "-c", script], check=True, timeout=PATIENCE_SECONDS)
