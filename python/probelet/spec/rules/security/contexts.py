"""Validates security contexts (core ``ValidateSecurityContext`` and ``validatePodSpecSecurityContext``, 1.36).

The API server also checks the content of ``windowsOptions``; here no container runs on Windows.
"""

from typing import Any, Final

from probelet.spec.model.pod import PodSpec
from probelet.spec.model.security_context import PodSecurityContext, SecurityContext, SecurityProfile
from probelet.spec.rules.security.profiles import validate_app_armor, validate_seccomp
from probelet.spec.rules.security.sysctls import validate_sysctls
from probelet.spec.rules.validate_probe import unsupported_value
from probelet.spec.text.problem import FieldError

ID_MAX: Final = 2**31 - 1
PROC_MOUNTS: Final = ("Default", "Unmasked")


def validate_security(context: SecurityContext | None, path: str, *, host_users: bool) -> list[FieldError]:
    """The mistakes in a container's context; ``host_users`` says that the pod has no user namespace of its own."""
    if context is None:
        return []
    errors = _ids({"runAsUser": context.run_as_user, "runAsGroup": context.run_as_group}, path)
    mount = context.proc_mount
    if mount is not None:
        errors += _one_of(f"{path}.procMount", mount, PROC_MOUNTS)
        if host_users and mount == "Unmasked":
            detail = "`hostUsers` must be false to use `Unmasked`"
            errors.append(FieldError(f"{path}.procMount", "Invalid value", mount, detail))
    errors += validate_seccomp(context.seccomp_profile, f"{path}.seccompProfile")
    if context.allow_privilege_escalation is False:
        cannot = "cannot set `allowPrivilegeEscalation` to false and"
        if context.privileged:
            errors.append(FieldError(path, "Invalid value", _internal(context), f"{cannot} `privileged` to true"))
        added = context.capabilities.add if context.capabilities is not None else []
        detail = f"{cannot} `capabilities.Add` CAP_SYS_ADMIN"
        errors += [
            FieldError(path, "Invalid value", _internal(context), detail) for name in added if name == "CAP_SYS_ADMIN"
        ]
    return errors + validate_app_armor(context.app_armor_profile, f"{path}.appArmorProfile")


def validate_pod_security(spec: PodSpec) -> list[FieldError]:
    """The mistakes in a pod's own context."""
    path = "spec.securityContext"
    context = spec.security_context or PodSecurityContext()
    ids = {"fsGroup": context.fs_group, "runAsUser": context.run_as_user, "runAsGroup": context.run_as_group}
    ids |= {f"supplementalGroups[{index}]": group for index, group in enumerate(context.supplemental_groups)}
    errors = _ids(ids, path)
    if spec.share_process_namespace and spec.host_pid:
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.append(FieldError(f"{path}.shareProcessNamespace", "Invalid value", True, detail))
    errors += validate_sysctls(context.sysctls, spec, f"{path}.sysctls")
    errors += _one_of(f"{path}.fsGroupChangePolicy", context.fs_group_change_policy, ("Always", "OnRootMismatch"))
    errors += validate_seccomp(context.seccomp_profile, f"{path}.seccompProfile")
    errors += validate_app_armor(context.app_armor_profile, f"{path}.appArmorProfile")
    errors += _one_of(f"{path}.supplementalGroupsPolicy", context.supplemental_groups_policy, ("Merge", "Strict"))
    change = context.se_linux_change_policy
    return errors + _one_of(f"{path}.seLinuxChangePolicy", change, ("MountOption", "Recursive"))


def validate_os(spec: PodSpec) -> list[FieldError]:
    """Windows options contradict a pod that says it is for Linux (``validateLinux``)."""
    if os_name(spec) != "linux":
        return []
    contexts: list[tuple[str, SecurityContext | PodSecurityContext | None]] = [("spec", spec.security_context)]
    contexts += [(path, container.security_context) for path, container in spec.each_container()]
    detail = "windows options cannot be set for a linux pod"
    return [
        FieldError(f"{path}.securityContext.windowsOptions", "Forbidden", detail=detail)
        for path, context in contexts
        if context is not None and context.windows_options is not None
    ]


def os_name(spec: PodSpec) -> str:
    """``spec.os.name``; empty if there is none."""
    name = spec.os.get("name") if isinstance(spec.os, dict) else None
    return name if isinstance(name, str) else ""


def validate_host_users(spec: PodSpec) -> list[FieldError]:
    """A pod with a user namespace of its own may share no other namespace with the host (``validateHostUsers``)."""
    if spec.host_users is not False:
        return []
    # HostPID and HostIPC are the API server's own spelling here.
    shared = {"hostNetwork": spec.host_network, "HostPID": spec.host_pid, "HostIPC": spec.host_ipc}
    return [
        FieldError(f"spec.{name}", "Forbidden", detail="when `hostUsers` is false")
        for name, is_shared in shared.items()
        if is_shared
    ]


def _ids(ids: dict[str, int | None], path: str) -> list[FieldError]:
    """Checks user and group IDs (apimachinery ``IsValidUserID``)."""
    detail = f"must be between 0 and {ID_MAX}, inclusive"
    return [
        FieldError(f"{path}.{name}", "Invalid value", value, detail)
        for name, value in ids.items()
        if value is not None and not 0 <= value <= ID_MAX
    ]


def _one_of(path: str, value: str | None, supported: tuple[str, ...]) -> list[FieldError]:
    return [] if value is None or value in supported else [unsupported_value(path, value, supported)]


def _internal(context: SecurityContext) -> dict[str, Any]:
    """The context as the API server's message shows it: as JSON of its internal type, whose names are Go's."""
    added, label = context.capabilities, context.se_linux_options
    parts = ("user", "role", "type", "level")
    return {
        "Capabilities": None if added is None else {"Add": added.add or None, "Drop": added.drop or None},
        "Privileged": context.privileged,
        "SELinuxOptions": None if label is None else {part.title(): getattr(label, part) for part in parts},
        "WindowsOptions": context.windows_options,
        "RunAsUser": context.run_as_user,
        "RunAsGroup": context.run_as_group,
        "RunAsNonRoot": context.run_as_non_root,
        "ReadOnlyRootFilesystem": context.read_only_root_filesystem,
        "AllowPrivilegeEscalation": context.allow_privilege_escalation,
        "ProcMount": context.proc_mount,
        "SeccompProfile": _profile(context.seccomp_profile),
        "AppArmorProfile": _profile(context.app_armor_profile),
    }


def _profile(profile: SecurityProfile | None) -> dict[str, Any] | None:
    return None if profile is None else {"Type": profile.type, "LocalhostProfile": profile.localhost_profile}
