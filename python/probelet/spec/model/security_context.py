"""The user a container runs as and its privileges (core/v1 SecurityContext and PodSecurityContext, 1.36)."""

import msgspec

from probelet.spec.model.meta import Int64, Object, Opaque


class Capabilities(Object, frozen=True, kw_only=True):
    """Capabilities to add to or drop from the runtime's default set."""

    add: list[str] = msgspec.field(default_factory=list)
    drop: list[str] = msgspec.field(default_factory=list)


class SecurityProfile(Object, frozen=True, kw_only=True):
    """A seccomp or AppArmor profile: the two types of the API have the same fields."""

    type: str = ""
    """``RuntimeDefault``, ``Unconfined`` or ``Localhost``. Required."""
    localhost_profile: str | None = None
    """With ``Localhost``: a file below the kubelet's seccomp directory, or the name of a loaded AppArmor profile."""


class SELinuxOptions(Object, frozen=True, kw_only=True):
    """The SELinux label; the runtime fills in a part that is empty."""

    user: str = ""
    role: str = ""
    type: str = ""
    level: str = ""


class Sysctl(Object, frozen=True, kw_only=True):
    """A kernel parameter of the pod's own namespaces."""

    name: str = msgspec.field(default_factory=str)
    value: str = msgspec.field(default_factory=str)


class SecurityContext(Object, frozen=True, kw_only=True):
    """The settings of one container; they override the pod's."""

    allow_privilege_escalation: bool | None = None
    """False sets no_new_privs."""
    app_armor_profile: SecurityProfile | None = None
    capabilities: Capabilities | None = None
    privileged: bool | None = None
    proc_mount: str | None = None
    """``Default`` hides and write-protects parts of /proc and /sys; ``Unmasked`` does not."""
    read_only_root_filesystem: bool | None = None
    run_as_group: Int64 | None = None
    run_as_non_root: bool | None = None
    """True refuses to start the container as user 0."""
    run_as_user: Int64 | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SecurityProfile | None = None
    windows_options: Opaque = None


class PodSecurityContext(Object, frozen=True, kw_only=True):
    """The settings for every container of a pod."""

    app_armor_profile: SecurityProfile | None = None
    fs_group: Int64 | None = None
    """One more supplemental group; probelet mounts no volumes whose owner it could change."""
    fs_group_change_policy: str | None = None
    """``Always`` or ``OnRootMismatch``; about volumes."""
    run_as_group: Int64 | None = None
    run_as_non_root: bool | None = None
    run_as_user: Int64 | None = None
    se_linux_change_policy: str | None = None
    """``MountOption`` or ``Recursive``; about volumes."""
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SecurityProfile | None = None
    supplemental_groups: list[Int64] = msgspec.field(default_factory=list)
    supplemental_groups_policy: str | None = None
    """``Merge`` adds the groups that the image gives the user, ``Strict`` does not. Default ``Merge``."""
    sysctls: list[Sysctl] = msgspec.field(default_factory=list)
    windows_options: Opaque = None
