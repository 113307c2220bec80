"""The AppArmor profile of a container: its field, the older annotation, or its pod's field.

Kubelet pkg/security/apparmor/helpers.go, 1.36. The kubelet still reads the annotation of a static pod.
"""

from typing import Final

from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.security_context import SecurityProfile

KEY_PREFIX: Final = "container.apparmor.security.beta.kubernetes.io/"
"""The rest of the annotation's key is the container's name."""
NAME_PREFIX: Final = "localhost/"
RUNTIME_DEFAULT: Final = "runtime/default"
UNCONFINED: Final = "unconfined"


def app_armor_profile(pod: Pod, container: Container) -> SecurityProfile | None:
    """The profile of a container; None if neither it nor its pod asks for one."""
    own, of_pod = container.security_context, pod.spec.security_context
    if own is not None and own.app_armor_profile is not None:
        return own.app_armor_profile
    annotated = _annotated(pod.metadata.annotations.get(f"{KEY_PREFIX}{container.name}"))
    return annotated or (of_pod.app_armor_profile if of_pod is not None else None)


def _annotated(value: str | None) -> SecurityProfile | None:
    if value == RUNTIME_DEFAULT:
        return SecurityProfile(type="RuntimeDefault")
    if value == UNCONFINED:
        return SecurityProfile(type="Unconfined")
    if value is None or not value.startswith(NAME_PREFIX):
        return None
    return SecurityProfile(type="Localhost", localhost_profile=value.removeprefix(NAME_PREFIX))
