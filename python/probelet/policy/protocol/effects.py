"""Effects: one call of the runtime each, and how it ended."""

from typing import Literal, TypeAlias

import msgspec

from probelet.policy.rules.grace import GraceSource, KillReason
from probelet.policy.rules.kind import Kind
from probelet.spec.model.container import Container, LifecycleHandler

HookName: TypeAlias = Literal["postStart", "preStop"]


class RunSandbox(msgspec.Struct, frozen=True):
    """RunPodSandbox; the outcome's ``id`` is the sandbox's."""

    attempt: int


class StopSandbox(msgspec.Struct, frozen=True):
    """StopPodSandbox. A sandbox that is not there is a success."""

    sandbox_id: str


class RemoveSandbox(msgspec.Struct, frozen=True):
    """RemovePodSandbox. A sandbox that is not there is a success."""

    sandbox_id: str


RestartCause: TypeAlias = Literal["", "error", "exit0", "max_age", "oom", "other", "probe_liveness", "probe_startup"]
"""The cause that ended the instance before a start; "" before the first one."""


class InspectImage(msgspec.Struct, frozen=True):
    """ImageStatus; the outcome's ``id`` is what to create containers from, empty when the image is missing."""

    image: str


class PullImage(msgspec.Struct, frozen=True):
    """PullImage; the outcome's ``id`` as for ``InspectImage``, its ``pull`` how it went."""

    image: str
    sandbox_id: str


class CreateContainer(msgspec.Struct, frozen=True):
    """CreateContainer; the outcome's ``id`` is the container's, ``type://id``.

    ``image_ref`` is what the image service gave, empty where containers are made of no image.
    """

    sandbox_id: str
    kind: Kind
    container: Container
    restart_count: int
    image_ref: str = ""


class StartContainer(msgspec.Struct, frozen=True):
    """StartContainer. ``cause`` is what led to it, ``free`` that no restart delay stood before it."""

    name: str
    container_id: str
    cause: RestartCause = ""
    free: bool = True


class KillContainer(msgspec.Struct, frozen=True):
    """StopContainer with a grace in whole seconds. A container that is not there is a success."""

    name: str
    container_id: str
    reason: KillReason
    grace_seconds: int
    grace_source: GraceSource


class RemoveContainer(msgspec.Struct, frozen=True):
    """RemoveContainer of a dead one. A container that is not there is a success."""

    name: str
    container_id: str
    keep_log: bool = False


class RunHook(msgspec.Struct, frozen=True):
    """ExecSync or an HTTP request for a hook that is one of the two; the outcome's ``detail`` is what it printed.

    Any answer to the request is a success, whatever its status (kubelet lifecycle/handlers.go:runHTTPHandler, 1.36).
    ``limit_seconds`` is how long the hook may take, None for as long as it needs.
    """

    container: Container
    container_id: str
    hook: HookName
    handler: LifecycleHandler
    limit_seconds: int | None


Effect: TypeAlias = (
    RunSandbox
    | StopSandbox
    | RemoveSandbox
    | InspectImage
    | PullImage
    | CreateContainer
    | StartContainer
    | KillContainer
    | RemoveContainer
    | RunHook
)


class Pull(msgspec.Struct, frozen=True):
    """A pull that succeeded: how long it took, how long with its wait for other pulls, and the image's bytes."""

    took_ns: int = 0
    with_wait_ns: int = 0
    size: int = 0


class Outcome(msgspec.Struct, frozen=True):
    """How one effect ended. ``error`` is the error with its code, ``detail`` the runtime's own words; "" if it did.

    ``unconfigured`` says that a container's configuration could not be made, so the runtime was not asked to create it.
    """

    id: str = ""
    error: str = ""
    detail: str = ""
    pull: Pull = Pull()
    unconfigured: bool = False
