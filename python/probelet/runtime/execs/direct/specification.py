"""The parts of an OCI runtime specification that decide how a command in the container is confined.

Every object here refuses a field that it does not name: a field of a newer specification may confine, and then only the
runtime knows how. A field whose type is ``msgspec.Raw`` is known to matter at the container's creation alone: mounts,
devices and limits of resources are properties of the namespaces and cgroups that the command joins.

opencontainers/runtime-spec specs-go/config.go, 1.2; runc utils_linux.go:newProcess and libcontainer/container_linux.go:
newInitConfig, 1.5, say which fields an exec takes.
"""

from typing import Annotated

import msgspec

Unsigned = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """An object of the specification."""


class User(Strict, frozen=True):
    """``username`` is for Windows."""

    uid: Unsigned = 0
    gid: Unsigned = 0
    umask: Unsigned | None = None
    additional_gids: list[Unsigned] | None = None
    username: msgspec.Raw = msgspec.Raw(b"null")


class Capabilities(Strict, frozen=True):
    """The five sets, by name."""

    bounding: list[str] | None = None
    effective: list[str] | None = None
    inheritable: list[str] | None = None
    permitted: list[str] | None = None
    ambient: list[str] | None = None


class Rlimit(Strict, frozen=True):
    """A limit of the process."""

    type: str
    soft: int
    hard: int


class Process(Strict, frozen=True):
    """The container's process. An exec replaces the command and the terminal and takes everything else."""

    user: User
    cwd: str
    capabilities: Capabilities | None = None
    env: list[str] | None = None
    rlimits: list[Rlimit] | None = None
    no_new_privileges: bool = False
    apparmor_profile: str = ""
    selinux_label: str = ""
    oom_score_adj: Annotated[int, msgspec.Meta(ge=-1000, le=1000)] | None = None
    args: msgspec.Raw = msgspec.Raw(b"null")
    command_line: msgspec.Raw = msgspec.Raw(b"null")
    console_size: msgspec.Raw = msgspec.Raw(b"null")
    terminal: msgspec.Raw = msgspec.Raw(b"null")


class Namespace(Strict, frozen=True):
    """A namespace that is not the host's."""

    type: str
    path: str = ""


class Linux(Strict, frozen=True):
    """The fields that only Linux has."""

    namespaces: list[Namespace] | None = None
    uid_mappings: list[msgspec.Raw] | None = None
    gid_mappings: list[msgspec.Raw] | None = None
    seccomp: msgspec.Raw = msgspec.Raw(b"null")
    mount_label: str = ""
    cgroups_path: msgspec.Raw = msgspec.Raw(b"null")
    devices: msgspec.Raw = msgspec.Raw(b"null")
    masked_paths: msgspec.Raw = msgspec.Raw(b"null")
    readonly_paths: msgspec.Raw = msgspec.Raw(b"null")
    resources: msgspec.Raw = msgspec.Raw(b"null")
    rootfs_propagation: msgspec.Raw = msgspec.Raw(b"null")
    sysctl: msgspec.Raw = msgspec.Raw(b"null")


class Specification(Strict, frozen=True):
    """The whole specification."""

    oci_version: str
    process: Process
    linux: Linux
    annotations: msgspec.Raw = msgspec.Raw(b"null")
    domainname: msgspec.Raw = msgspec.Raw(b"null")
    hooks: msgspec.Raw = msgspec.Raw(b"null")
    hostname: msgspec.Raw = msgspec.Raw(b"null")
    mounts: msgspec.Raw = msgspec.Raw(b"null")
    root: msgspec.Raw = msgspec.Raw(b"null")


class RuntimeOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of containerd's runc shim (core/runtime/v2/runc/options/oci.proto) with which an exec is confined as
    described; others, such as ``no_new_keyring``, change the exec."""

    binary_name: str = ""
    systemd_cgroup: bool = False


class ContainerInfo(msgspec.Struct, frozen=True):
    """The addition of containerd to ContainerStatus on request (pkg/cri/server/container_status.go:
    ``ContainerInfo``)."""

    sandbox_id: str = msgspec.field(name="sandboxID")
    pid: Annotated[int, msgspec.Meta(ge=0, le=2**22)]
    runtime_type: str = msgspec.field(name="runtimeType")
    runtime_spec: msgspec.Raw = msgspec.field(name="runtimeSpec")
    runtime_options: msgspec.Raw = msgspec.field(name="runtimeOptions", default=msgspec.Raw(b"null"))


class SandboxInfo(msgspec.Struct, frozen=True):
    """The addition of containerd to PodSandboxStatus on request (``SandboxInfo``)."""

    pid: Annotated[int, msgspec.Meta(ge=0, le=2**22)]
