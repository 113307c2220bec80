"""The seccomp filters that runc loads, each read once from a process of runc's own.

What a profile becomes depends on the version of runc, on the libseccomp in it and on the kernel. So nothing here makes
a filter: the runc that the runtime would call makes a container that runs nothing, and the helper's program reads what
its process has loaded (rust/enter/src/sample).
"""

import asyncio
import hashlib
import os
import struct
import subprocess
from collections import OrderedDict
from pathlib import Path
from typing import Final

import structlog

from probelet.runtime.execs.direct.container import NO_FILTER, Filter, InheritedAttributes
from probelet.runtime.execs.direct.fallback import FallbackError, Reason

FILTERS_MAX: Final = 64
"""Filters that are kept, of up to 32 KiB each; a node has a few profiles. The one used least recently goes first."""

RETRY_SECONDS: Final = 60.0
"""How long a profile stays with the runtime after its filter could not be read: runc may be replaced or be slow."""

_READ_SECONDS: Final = 60.0
"""Above the sum of the limits that the helper's program has for the calls of runc."""

_SPECIFICATION: Final = b"""{"ociVersion": "1.0.2", "process": {"user": {"uid": 0, "gid": 0}, "cwd": "/",\
 "args": ["/proc/self/exe"], "noNewPrivileges": %s}, "root": {"path": "rootfs"},\
 "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],\
 "linux": {"cgroupsPath": "/CGROUP", "seccomp": %s,\
 "namespaces": [{"type": "pid"}, {"type": "mount"}, {"type": "ipc"}, {"type": "uts"}, {"type": "network"}]}}"""
"""A container whose program is runc's own file, which every root file system with /proc has. It is never executed: the
process is ended at that point at the latest. The helper's program writes its own name in place of ``CGROUP``."""

log = structlog.get_logger("probelet.execs.direct")


class Filters:
    """Reads filters and keeps them. Create it on the event loop that uses it."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._known: OrderedDict[bytes, Filter | FallbackError] = OrderedDict()
        # One at a time: a node that starts has many containers with the same profile.
        self._turn = asyncio.Lock()

    async def filter_of(self, profile: bytes | None, no_new_privileges: bool, inherited: InheritedAttributes) -> Filter:
        """The filter that an exec of runc loads for a profile. Raises FallbackError if it cannot be had."""
        if profile is None:
            return NO_FILTER
        runc, version = runc_of(inherited.shim)
        no_new_privs = b"true" if no_new_privileges else b"false"
        key = hashlib.sha256(b"\0".join((version, no_new_privs, profile))).digest()
        async with self._turn:
            found = self._known.get(key)
            if found is None:
                try:
                    found = await asyncio.to_thread(self._read, profile, no_new_privs, inherited, runc)
                    log.info("seccomp filter read from runc", runc=runc, instructions=len(found.instructions) // 8)
                except FallbackError as error:
                    found = error
                    asyncio.get_running_loop().call_later(RETRY_SECONDS, self._known.pop, key, None)
                self._known[key] = found
                if len(self._known) > FILTERS_MAX:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
        if isinstance(found, FallbackError):
            raise found
        return found

    def sweep(self) -> None:
        """Removes runc's process and its cgroups where the helper's program was killed before it could, here or in an
        earlier process. Waits for its end; call it on a thread."""
        command = [str(self._program), "sweep"]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_READ_SECONDS, env={})
        except (OSError, subprocess.TimeoutExpired) as error:
            log.warning("what is left of containers of runc cannot be removed", error=str(error))
            return
        if done.returncode:
            said = done.stderr.decode(errors="replace")
            log.warning("what is left of containers of runc cannot be removed", error=said)

    def _read(self, profile: bytes, no_new_privs: bytes, inherited: InheritedAttributes, runc: str) -> Filter:
        specification = _SPECIFICATION % (no_new_privs, profile)
        command = [str(self._program), "filter", str(inherited.shim), str(inherited.shim_start_time), runc]
        try:
            done = subprocess.run(command, input=specification, capture_output=True, timeout=_READ_SECONDS, env={})
        except (OSError, subprocess.TimeoutExpired) as error:
            self.sweep()
            raise FallbackError(Reason.SECCOMP, str(error)) from None
        if done.returncode:
            # It may have been killed.
            self.sweep()
        if done.returncode or len(done.stdout) % 8 != 4:
            why = done.stderr.decode(errors="replace").strip() or f"exit code {done.returncode}"
            raise FallbackError(Reason.SECCOMP, f"the filter cannot be read from {runc}: {why}")
        (flags,) = struct.unpack_from("<I", done.stdout)
        return Filter(flags, done.stdout[4:])


def runc_of(shim: int) -> tuple[str, bytes]:
    """The runc that a shim calls, and which file that is. Raises FallbackError if it cannot be found.

    The shim looks in its own PATH and mount namespace (containerd/go-runc: ``exec.LookPath``).
    """
    try:
        variables = Path(f"/proc/{shim}/environ").read_bytes().split(b"\0")
        path = next((entry[5:].decode() for entry in variables if entry.startswith(b"PATH=")), "")
        for folder in path.split(":"):
            if not folder.startswith("/"):
                break
            program = Path(f"/proc/{shim}/root{folder}/runc")
            if os.access(program, os.X_OK):
                found = program.stat()
                version = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
                return f"{folder}/runc", repr(version).encode()
    except (OSError, ValueError) as error:
        raise FallbackError(Reason.SECCOMP, f"runc cannot be found: {error}") from None
    raise FallbackError(Reason.SECCOMP, f"runc is not in the runtime's PATH, {path!r}")
