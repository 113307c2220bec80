"""Whether a container's commands can be confined by the helper, and how: from the runtime's answer to the helper's
bytes.

Raises ``FallbackError`` for everything that the helper does not reproduce exactly.
"""

import struct
from typing import Final

import msgspec

from probelet.runtime.execs.direct.capabilities import capability_set
from probelet.runtime.execs.direct.fallback import FallbackError, Reason
from probelet.runtime.execs.direct.limits import LIMITS, numbered_limits
from probelet.runtime.execs.direct.specification import (
    ContainerInfo,
    Linux,
    Process,
    RuntimeOptions,
    Specification,
)

RUNTIME: Final = "io.containerd.runc.v2"

NAMESPACES: Final = {
    "cgroup": 0x02000000,
    "ipc": 0x08000000,
    "mount": 0x00020000,
    "network": 0x40000000,
    "pid": 0x20000000,
    "uts": 0x04000000,
}
"""``CLONE_NEW*`` of the kinds that the helper joins (linux/sched.h)."""


class Bounds(msgspec.Struct, frozen=True):
    """The limits of the helper itself, and so of every command."""

    capabilities: int
    limits: tuple[int, ...]

    def allow(self, resource: int, hard: int) -> bool:
        """Whether the helper can give a command this hard limit."""
        return hard <= self.limits[resource] or bool(self.capabilities >> _CAP_SYS_RESOURCE & 1)


_CAP_SYS_RESOURCE: Final = 24


class InheritedAttributes(msgspec.Struct, frozen=True):
    """The attributes that a command inherits and the specification does not name: from the processes that the runtime
    has started in the same way."""

    start_time: int
    """When the first process started, in clock ticks since the machine did."""
    umask: int
    """The shim's umask."""
    nice: int
    """The shim's nice value."""
    limits: tuple[tuple[int, int], ...]
    """Soft and hard limits of the sandbox's process, which changes none of its own."""
    shim: int
    """The PID of the shim."""
    shim_start_time: int
    """When the shim started, in clock ticks since the machine did."""


class Filter(msgspec.Struct, frozen=True):
    """A seccomp filter in the kernel's form."""

    flags: int
    """``SECCOMP_FILTER_FLAG_*`` with which it is loaded."""
    instructions: bytes
    """``struct sock_filter``, eight bytes each."""


NO_FILTER: Final = Filter(0, b"")
"""A container without a seccomp profile."""


def container_info(text: str) -> ContainerInfo:
    """The runtime's own description of a container."""
    try:
        info = msgspec.json.decode(text, type=ContainerInfo)
    except msgspec.DecodeError as error:
        raise FallbackError(Reason.RUNTIME, f"ContainerStatus says nothing usable: {error}") from None
    if info.runtime_type != RUNTIME:
        raise FallbackError(Reason.RUNTIME, f"runtime {info.runtime_type!r} is not {RUNTIME!r}")
    try:
        options = msgspec.json.decode(info.runtime_options, type=RuntimeOptions | None) or RuntimeOptions()
    except msgspec.DecodeError as error:
        raise FallbackError(Reason.RUNTIME, f"runtimeOptions: {error}") from None
    if options.binary_name not in ("", "runc"):
        raise FallbackError(Reason.RUNTIME, f"runtimeOptions.binary_name {options.binary_name!r} is not 'runc'")
    if info.pid <= 1:
        raise FallbackError(Reason.IDENTITY, "the container has no process")
    return info


def specification(info: ContainerInfo) -> Specification:
    """The specification, if nothing in it is beyond the helper."""
    try:
        spec = msgspec.json.decode(info.runtime_spec, type=Specification)
    except msgspec.DecodeError as error:
        raise FallbackError(Reason.SPECIFICATION, str(error)) from None
    if not spec.oci_version.startswith("1."):
        raise FallbackError(Reason.SPECIFICATION, f"ociVersion {spec.oci_version!r} is not 1.x")
    process, linux = spec.process, spec.linux
    if label := process.apparmor_profile or process.selinux_label or linux.mount_label:
        raise FallbackError(Reason.LABEL, f"the container has the label {label!r}")
    if linux.uid_mappings or linux.gid_mappings:
        raise FallbackError(Reason.USER_NAMESPACE, "the container's users are mapped")
    return spec


def described(
    container_id: str,
    info: ContainerInfo,
    spec: Specification,
    inherited: InheritedAttributes,
    seccomp: Filter,
    bounds: Bounds,
) -> bytes:
    """The container in the helper's form (rust/enter-protocol/src/request.rs: ``Container``)."""
    process = spec.process
    if process.oom_score_adj is None:
        raise FallbackError(Reason.SPECIFICATION, "process.oomScoreAdj is absent, so that it is the runtime's own")
    user = process.user
    groups = user.additional_gids or []
    return b"".join(
        (
            text(container_id),
            struct.pack("<iQi", info.pid, inherited.start_time, _namespaces(spec.linux)),
            struct.pack("<III", user.uid, user.gid, inherited.umask if user.umask is None else user.umask),
            struct.pack("<iiB", process.oom_score_adj, inherited.nice, process.no_new_privileges),
            _capabilities(process, bounds),
            _limits(process, inherited, bounds),
            struct.pack(f"<I{len(groups)}I", len(groups), *groups),
            text(process.cwd),
            texts(process.env or []),
            struct.pack("<II", seccomp.flags, len(seccomp.instructions)),
            seccomp.instructions,
        )
    )


def text(value: str) -> bytes:
    """A text with its length before it."""
    # A name that the runtime could not decode holds surrogates; no system call takes NUL inside a text.
    try:
        encoded = value.encode()
    except UnicodeEncodeError:
        raise FallbackError(Reason.SPECIFICATION, f"{value!a} is no UTF-8") from None
    if b"\0" in encoded:
        raise FallbackError(Reason.SPECIFICATION, f"{value!a} holds a NUL")
    return struct.pack("<I", len(encoded)) + encoded


def texts(values: list[str]) -> bytes:
    """A list of texts with its length before it."""
    return struct.pack("<I", len(values)) + b"".join(map(text, values))


def _namespaces(linux: Linux) -> int:
    flags = 0
    for namespace in linux.namespaces or []:
        if namespace.type == "user":
            raise FallbackError(Reason.USER_NAMESPACE, "the container has a user namespace")
        if namespace.type not in NAMESPACES:
            raise FallbackError(Reason.SPECIFICATION, f"linux.namespaces: {namespace.type!r} is not understood")
        flags |= NAMESPACES[namespace.type]
    return flags


def _capabilities(process: Process, bounds: Bounds) -> bytes:
    sets = process.capabilities
    if sets is None:
        raise FallbackError(Reason.CAPABILITIES, "process.capabilities is absent")
    names = (sets.bounding, sets.effective, sets.permitted, sets.inheritable, sets.ambient)
    numbers = [capability_set(listed or []) for listed in names]
    every = 0
    for number in numbers:
        every |= number
    if lacking := every & ~bounds.capabilities:
        raise FallbackError(Reason.CAPABILITIES, f"the helper lacks capabilities {lacking:#x}")
    return struct.pack("<5Q", *numbers)


def _limits(process: Process, inherited: InheritedAttributes, bounds: Bounds) -> bytes:
    limits = list(inherited.limits)
    for resource, soft, hard in numbered_limits(process.rlimits or []):
        limits[resource] = (soft, hard)
    for resource, (_, hard) in enumerate(limits):
        if not bounds.allow(resource, hard):
            raise FallbackError(Reason.LIMITS, f"{LIMITS[resource]} {hard} is above the helper's")
    return struct.pack(f"<{2 * len(limits)}Q", *(value for limit in limits for value in limit))
