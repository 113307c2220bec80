"""The user a container runs as and its privileges (core/v1 SecurityContext and PodSecurityContext, 1.36)."""

import msgspec

from probelet.spec.model.meta import Int64, Object, Opaque
from probelet.spec.text.problem import FieldError

ID_MAX = 2**31 - 1


class Capabilities(Object, frozen=True, kw_only=True):
    """Capabilities to add to or drop from the runtime's default set."""

    add: list[str] = msgspec.field(default_factory=list)
    drop: list[str] = msgspec.field(default_factory=list)


class SecurityContext(Object, frozen=True, kw_only=True):
    """The settings of one container; they override the pod's."""

    allow_privilege_escalation: bool | None = None
    """False sets no_new_privs."""
    capabilities: Capabilities | None = None
    privileged: bool | None = None
    read_only_root_filesystem: bool | None = None
    run_as_group: Int64 | None = None
    run_as_user: Int64 | None = None
    app_armor_profile: Opaque = None
    proc_mount: Opaque = None
    run_as_non_root: Opaque = None
    se_linux_options: Opaque = None
    seccomp_profile: Opaque = None
    windows_options: Opaque = None


class PodSecurityContext(Object, frozen=True, kw_only=True):
    """The settings for every container of a pod."""

    fs_group: Int64 | None = None
    """One more supplemental group; probelet mounts no volumes whose owner it could change."""
    run_as_group: Int64 | None = None
    run_as_user: Int64 | None = None
    supplemental_groups: list[Int64] = msgspec.field(default_factory=list)
    app_armor_profile: Opaque = None
    fs_group_change_policy: Opaque = None
    run_as_non_root: Opaque = None
    se_linux_change_policy: Opaque = None
    se_linux_options: Opaque = None
    seccomp_profile: Opaque = None
    supplemental_groups_policy: Opaque = None
    sysctls: Opaque = None
    windows_options: Opaque = None


def validate_ids(context: SecurityContext | PodSecurityContext | None, path: str) -> list[FieldError]:
    """Checks the user and group IDs (apimachinery ``IsValidUserID``)."""
    if context is None:
        return []
    ids = {"runAsUser": context.run_as_user, "runAsGroup": context.run_as_group}
    if isinstance(context, PodSecurityContext):
        ids["fsGroup"] = context.fs_group
        ids |= {f"supplementalGroups[{index}]": group for index, group in enumerate(context.supplemental_groups)}
    detail = f"must be between 0 and {ID_MAX}, inclusive"
    return [
        FieldError(f"{path}.{name}", "Invalid value", value, detail)
        for name, value in ids.items()
        if value is not None and not 0 <= value <= ID_MAX
    ]
