"""Fields for which a CRI runtime's pod is refused: ignoring one would leave the pod less confined than it asks for.

The kubelet refuses sysctls, AppArmor profiles and other systems at admission too (pkg/kubelet/sysctl/allowlist.go,
pkg/security/apparmor, lifecycle/predicate.go, 1.36); the other rows are features of the kubelet that probelet lacks.
``ignored`` has the fields that do no harm.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from probelet.spec.annotation.app_armor import KEY_PREFIX, NAME_PREFIX, UNCONFINED
from probelet.spec.model.pod import Pod
from probelet.spec.model.security_context import PodSecurityContext, SecurityContext
from probelet.spec.rules.security.sysctls import normal_name, safe_sysctls
from probelet.spec.rules.unsupported import DETAIL
from probelet.spec.text.golang import go_quote
from probelet.spec.text.problem import FieldError

SYS: Final = Path("/sys")


def denied_fields(pod: Pod, sys: Path = SYS) -> list[FieldError]:
    """One error for each field that a CRI runtime's pod may not have here; ``sys`` is this machine's /sys."""
    errors = [error for row in _ROWS for error in row(pod)]
    return errors if _has_app_armor(sys) else [*errors, *_app_armor(pod)]


def _sysctls(pod: Pod) -> Iterator[FieldError]:
    """The kubelet's reason SysctlForbidden."""
    context = pod.spec.security_context or PodSecurityContext()
    safe = safe_sysctls()
    for index, sysctl in enumerate(context.sysctls):
        name = normal_name(sysctl.name)
        if name not in safe:
            detail = f"forbidden sysctl: {go_quote(name)} not allowlisted (allowed: {', '.join(safe)})"
            yield FieldError(f"spec.securityContext.sysctls[{index}].name", "Forbidden", detail=detail)


def _host_users(pod: Pod) -> Iterator[FieldError]:
    if pod.spec.host_users is False:
        detail = f"user namespaces are {DETAIL}; must be true or absent"
        yield FieldError("spec.hostUsers", "Invalid value", False, detail)


def _runtime_class(pod: Pod) -> Iterator[FieldError]:
    name: Any = pod.spec.runtime_class_name
    if name:
        detail = "there is no API server to read the class from, and another runtime may confine less; must be absent"
        yield FieldError("spec.runtimeClassName", "Invalid value", name, detail)


def _pod_limits(pod: Pod) -> Iterator[FieldError]:
    if pod.spec.resources is not None and pod.spec.resources.limits:
        detail = f"limits of a whole pod are {DETAIL}; set resources.limits of its containers"
        yield FieldError("spec.resources.limits", "Forbidden", detail=detail)


def _empty_app_armor_name(pod: Pod) -> Iterator[FieldError]:
    for key, value in pod.metadata.annotations.items():
        if key.startswith(KEY_PREFIX) and value.strip() == NAME_PREFIX:
            detail = "Cannot enforce AppArmor: the profile's name is empty"
            yield FieldError(f"metadata.annotations[{key}]", "Invalid value", value, detail)


_ROWS: Final[tuple[Callable[[Pod], Iterator[FieldError]], ...]] = (
    _sysctls,
    _host_users,
    _runtime_class,
    _pod_limits,
    _empty_app_armor_name,
)


def _has_app_armor(sys: Path) -> bool:
    """True if this machine's kernel enforces AppArmor profiles (libcontainer ``apparmor.IsEnabled``)."""
    try:
        enabled = (sys / "module/apparmor/parameters/enabled").read_bytes()
    except OSError:
        return False
    return enabled.startswith(b"Y") and (sys / "kernel/security/apparmor").exists()


def _app_armor(pod: Pod) -> Iterator[FieldError]:
    """Every profile but Unconfined, for a machine that can enforce none."""
    detail = "Cannot enforce AppArmor: AppArmor is not enabled on the host (allowed: Unconfined, or no profile)"
    contexts: list[tuple[str, SecurityContext | PodSecurityContext | None]] = [("spec", pod.spec.security_context)]
    contexts += [(path, container.security_context) for path, container in pod.spec.each_container()]
    for path, context in contexts:
        profile = context.app_armor_profile if context is not None else None
        if profile is not None and profile.type != "Unconfined":
            yield FieldError(f"{path}.securityContext.appArmorProfile", "Forbidden", detail=detail)
    for key, value in pod.metadata.annotations.items():
        if key.startswith(KEY_PREFIX) and value not in ("", UNCONFINED):
            yield FieldError(f"metadata.annotations[{key}]", "Forbidden", detail=detail)
