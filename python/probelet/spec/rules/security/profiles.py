"""Validates seccomp and AppArmor profiles (core ``validateSeccompProfileField``, ``ValidateAppArmorProfileField`` and
the checks of their annotations, 1.36)."""

from collections.abc import Iterator
from typing import Final

from probelet.spec.annotation.app_armor import KEY_PREFIX, NAME_PREFIX, RUNTIME_DEFAULT, UNCONFINED
from probelet.spec.model.pod import Pod
from probelet.spec.model.security_context import SecurityProfile
from probelet.spec.rules.validate_probe import unsupported_value
from probelet.spec.text.golang import go_quote
from probelet.spec.text.problem import FieldError

APP_ARMOR_NAME_LENGTH_MAX: Final = 4095
PROFILE_TYPES: Final = ("Localhost", "RuntimeDefault", "Unconfined")

_APP_ARMOR_WORDS: Final = {"RuntimeDefault": RUNTIME_DEFAULT, "Unconfined": UNCONFINED}


def validate_seccomp(profile: SecurityProfile | None, path: str) -> list[FieldError]:
    """A local profile is a file below one directory: no absolute path and no ``..``."""
    if profile is None:
        return []
    errors = _type(profile, path, "seccompProfile")
    name, field = profile.localhost_profile, f"{path}.localhostProfile"
    if profile.type != "Localhost":
        if name is not None:
            value = {"Type": profile.type, "LocalhostProfile": name}
            errors.append(FieldError(field, "Invalid value", value, "can only be set when seccomp type is Localhost"))
    elif not name:
        # The API server admits an empty name; the kubelet then creates no container.
        errors.append(FieldError(field, "Required value", detail="must be set when seccomp type is Localhost"))
    else:
        if name.startswith("/"):
            errors.append(FieldError(field, "Invalid value", name, "must be a relative path"))
        if ".." in name.split("/"):
            errors.append(FieldError(field, "Invalid value", name, "must not contain '..'"))
    return errors


def validate_app_armor(profile: SecurityProfile | None, path: str) -> list[FieldError]:
    """A local profile is the name of a profile that the kernel has loaded."""
    if profile is None:
        return []
    name, field = profile.localhost_profile, f"{path}.localhostProfile"
    if profile.type not in PROFILE_TYPES:
        return _type(profile, path, "appArmorProfile")
    if profile.type != "Localhost":
        detail = "can only be set when AppArmor type is Localhost"
        return [] if name is None else [FieldError(field, "Invalid value", name, detail)]
    if not name:
        return [FieldError(field, "Required value", detail="must be set when AppArmor type is Localhost")]
    errors = []
    if name != name.strip():
        errors.append(FieldError(field, "Invalid value", name, "must not be padded with whitespace"))
    if len(name.encode()) > APP_ARMOR_NAME_LENGTH_MAX:
        errors.append(FieldError(field, "Too long", detail=f"may not be more than {APP_ARMOR_NAME_LENGTH_MAX} bytes"))
    return errors


def validate_app_armor_annotations(pod: Pod) -> Iterator[FieldError]:
    """Each annotation names a container of the pod and a profile."""
    names = {container.name for _, container in pod.spec.each_container()}
    for key, value in pod.metadata.annotations.items():
        if not key.startswith(KEY_PREFIX):
            continue
        field, name = f"metadata.annotations[{key}]", key.removeprefix(KEY_PREFIX)
        if name not in names:
            yield FieldError(field, "Invalid value", name, "container not found")
        if value not in ("", RUNTIME_DEFAULT, UNCONFINED) and not value.startswith(NAME_PREFIX):
            yield FieldError(field, "Invalid value", value, f"invalid AppArmor profile name: {go_quote(value)}")


def match_app_armor_annotations(pod: Pod) -> Iterator[FieldError]:
    """The annotation and the field of one container mean the same profile."""
    of_pod = pod.spec.security_context.app_armor_profile if pod.spec.security_context is not None else None
    for path, container in pod.spec.each_container():
        annotation = pod.metadata.annotations.get(f"{KEY_PREFIX}{container.name}")
        own = container.security_context.app_armor_profile if container.security_context is not None else None
        profile = own or of_pod
        if annotation is not None and profile is not None:
            yield from _match(annotation, profile, f"{path}.securityContext.appArmorProfile")


def _match(annotation: str, profile: SecurityProfile, path: str) -> Iterator[FieldError]:
    if profile.type == "Localhost" and annotation.startswith(NAME_PREFIX):
        if annotation.removeprefix(NAME_PREFIX) != profile.localhost_profile:
            detail = "apparmor profile in annotation and field must match"
            yield FieldError(f"{path}.localhostProfile", "Forbidden", detail=detail)
    elif profile.type in PROFILE_TYPES and annotation != _APP_ARMOR_WORDS.get(profile.type):
        detail = "apparmor type in annotation and field must match"
        yield FieldError(f"{path}.type", "Forbidden", detail=detail)


def _type(profile: SecurityProfile, path: str, field: str) -> list[FieldError]:
    if profile.type in PROFILE_TYPES:
        return []
    if profile.type:
        return [unsupported_value(f"{path}.type", profile.type, PROFILE_TYPES)]
    return [FieldError(f"{path}.type", "Required value", detail=f"type is required when {field} is set")]
