"""The user of a container's image, and the pods that refuse to run as root.

Kubelet pkg/kubelet/kuberuntime/helpers.go:getImageUser and security_context_others.go:verifyRunAsNonRoot, 1.36.
"""

from typing import Final

import msgspec

from probelet.node.effects.environment.config_error import ContainerConfigError
from probelet.policy.messages import pod_text
from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.security_context import PodSecurityContext, SecurityContext
from probelet.spec.text.golang import go_quote

UID_MAX: Final = 2**31 - 1


class ImageUser(msgspec.Struct, frozen=True):
    """The user that an image names: a number, or a name that only its own /etc/passwd can resolve."""

    uid: int | None = None
    name: str = ""


def image_user(image: api_pb2.Image | None) -> ImageUser:
    """The user of an image; an image that names none, or that is unknown, runs as root."""
    if image is not None and image.HasField("uid"):
        return ImageUser(uid=image.uid.value)
    if image is not None and image.username:
        return ImageUser(name=image.username)
    return ImageUser(uid=0)


def run_as_user(pod: Pod, container: Container) -> int | None:
    """The user that the container's context asks for, otherwise the pod's; None if neither asks."""
    of_pod, own = _contexts(pod, container)
    return of_pod.run_as_user if own.run_as_user is None else own.run_as_user


def check_non_root(pod: Pod, container: Container, user: ImageUser) -> None:
    """Raises ContainerConfigError for a container with ``runAsNonRoot`` that is or may be root."""
    of_pod, own = _contexts(pod, container)
    wanted = of_pod.run_as_non_root if own.run_as_non_root is None else own.run_as_non_root
    if not wanted:
        return
    meta = pod.metadata
    place = f"(pod: {go_quote(pod_text(meta.name, meta.namespace, meta.uid))}, container: {container.name})"
    asked = run_as_user(pod, container)
    if asked is not None:
        if asked == 0:
            raise ContainerConfigError(f"container's runAsUser breaks non-root policy {place}")
        return
    if user.uid is None:
        non_numeric = f"container has runAsNonRoot and image has non-numeric user ({user.name})"
        raise ContainerConfigError(f"{non_numeric}, cannot verify user is non-root {place}")
    if user.uid == 0:
        raise ContainerConfigError(f"container has runAsNonRoot and image will run as root {place}")
    if not 0 <= user.uid <= UID_MAX:
        invalid = f"container has runAsNonRoot and image has an invalid user id ({user.uid}). (Must be 1-({UID_MAX})): "
        raise ContainerConfigError(f"{invalid}must be between 0 and {UID_MAX}, inclusive {place}")


def _contexts(pod: Pod, container: Container) -> tuple[PodSecurityContext, SecurityContext]:
    return pod.spec.security_context or PodSecurityContext(), container.security_context or SecurityContext()
