"""Where a sandbox has its network namespace, from the runtime's answer."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec

from probelet.errors import ProbeletError

SHARED_KERNEL: Final = frozenset(
    {"", "io.containerd.runc.v1", "io.containerd.runc.v2", "io.containerd.runtime.v1.linux"}
)
"""Runtimes whose pods listen in their namespace on this machine; CRI-O and the embedded runtime name none. The servers
of others (Kata, gVisor) are behind another network stack, where no socket of ours can be."""

NODE_ROOT: Final = "/proc/1/root"
"""The node's files for an agent in a container that sees the node's processes."""


class ClosedNetworkError(ProbeletError):
    """A pod's network cannot be entered; the text says why."""


class _Namespace(msgspec.Struct, frozen=True):
    type: str = ""
    path: str = ""


class _Linux(msgspec.Struct, frozen=True):
    namespaces: list[_Namespace] | None = None


class _Specification(msgspec.Struct, frozen=True):
    linux: _Linux = _Linux()


class _SandboxInfo(msgspec.Struct, frozen=True, rename="camel"):
    """The addition of containerd (``SandboxInfo``) and of CRI-O to PodSandboxStatus; other fields are not read."""

    pid: Annotated[int, msgspec.Meta(ge=0, le=2**22)] = 0
    runtime_type: str = ""
    runtime_spec: _Specification | None = None


class NetworkPlace(msgspec.Struct, frozen=True):
    """The places at which a sandbox's namespace may be found."""

    sandbox_id: str
    pid: int
    """The sandbox's first process; 0 if the runtime names none."""
    path: str
    """The file of the namespace; empty if the runtime names none."""
    is_shared: bool
    """The sandbox is on the node's own network."""

    def candidates(self) -> Iterator[str]:
        """The files to try, the surest first. A process may have ended, and its number may be another's by now; the
        cgroup of a sandbox's process bears the sandbox's ID."""
        if self.path:
            yield self.path
            yield NODE_ROOT + self.path
        if self.pid > 1 and self._is_of_sandbox():
            yield f"/proc/{self.pid}/ns/net"

    def _is_of_sandbox(self) -> bool:
        try:
            return os.fsencode(self.sandbox_id) in Path(f"/proc/{self.pid}/cgroup").read_bytes()
        except OSError:
            return False


def network_place(sandbox_id: str, info: str) -> NetworkPlace:
    """Reads the entry ``info`` of a verbose PodSandboxStatus. Raises ClosedNetworkError."""
    try:
        found = msgspec.json.decode(info or "{}", type=_SandboxInfo)
    except msgspec.DecodeError as error:
        raise ClosedNetworkError(f"PodSandboxStatus says nothing usable: {error}") from None
    if found.runtime_type not in SHARED_KERNEL:
        raise ClosedNetworkError(f"the runtime {found.runtime_type!r} has a network stack of its own")
    if found.runtime_spec is None:
        if not found.pid:
            raise ClosedNetworkError("the runtime names neither the sandbox's namespace nor its process")
        return NetworkPlace(sandbox_id, found.pid, "", is_shared=False)
    namespaces = found.runtime_spec.linux.namespaces or []
    networks = [namespace.path for namespace in namespaces if namespace.type == "network"]
    path = next((path for path in networks if path.startswith("/")), "")
    return NetworkPlace(sandbox_id, found.pid, path, is_shared=not networks)
