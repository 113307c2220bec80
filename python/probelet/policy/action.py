"""What a pod's machine asks for, and what it is told.

Actions come in an order that has to be kept. Those without an answer (``Record``, ``Publish``, ``Arm`` ...) are done
on the spot. ``Perform`` is answered by one ``Performed`` with the same ticket when *all* its effects have ended; its
effects may run at the same time. Several tickets are open at once only while containers of the pod are killed
together, and while a preStop hook runs. Nothing else is asked of the runtime until they are answered: a kill blocks
its pod.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from probelet.policy.kill import GraceSource, KillReason
from probelet.policy.kind import Kind
from probelet.policy.podstatus import ContainerStatus
from probelet.policy.snapshot import Snapshot
from probelet.spec.model.container import Container, LifecycleHandler
from probelet.spec.model.pod import PodPhase

HookName: TypeAlias = Literal["postStart", "preStop"]

# Effects: each is one call of the runtime.


@dataclass(frozen=True, slots=True)
class RunSandbox:
    """RunPodSandbox; the outcome's ``id`` is the sandbox's."""

    attempt: int


@dataclass(frozen=True, slots=True)
class StopSandbox:
    """StopPodSandbox. A sandbox that is not there is a success."""

    sandbox_id: str


@dataclass(frozen=True, slots=True)
class RemoveSandbox:
    """RemovePodSandbox. A sandbox that is not there is a success."""

    sandbox_id: str


RestartCause: TypeAlias = Literal["", "error", "exit0", "max_age", "oom", "other", "probe_liveness", "probe_startup"]
"""What ended the instance before a start; "" before the first one."""


@dataclass(frozen=True, slots=True)
class InspectImage:
    """ImageStatus; the outcome's ``id`` is what to create containers from, empty when the image is missing."""

    image: str


@dataclass(frozen=True, slots=True)
class PullImage:
    """PullImage; the outcome's ``id`` as for ``InspectImage``, its ``pull`` how it went."""

    image: str
    sandbox_id: str


@dataclass(frozen=True, slots=True)
class CreateContainer:
    """CreateContainer; the outcome's ``id`` is the container's, ``type://id``.

    ``image_ref`` is what the image service gave, empty where containers are made of no image.
    """

    sandbox_id: str
    kind: Kind
    container: Container
    restart_count: int
    image_ref: str = ""


@dataclass(frozen=True, slots=True)
class StartContainer:
    """StartContainer. ``cause`` is what led to it, ``free`` that no restart delay stood before it."""

    name: str
    container_id: str
    cause: RestartCause = ""
    free: bool = True


@dataclass(frozen=True, slots=True)
class KillContainer:
    """StopContainer with a grace in whole seconds. A container that is not there is a success."""

    name: str
    container_id: str
    reason: KillReason
    grace_seconds: int
    grace_source: GraceSource


@dataclass(frozen=True, slots=True)
class RemoveContainer:
    """RemoveContainer of a dead one. A container that is not there is a success."""

    name: str
    container_id: str
    keep_log: bool = False


@dataclass(frozen=True, slots=True)
class RunHook:
    """ExecSync or an HTTP request for a hook that is one of the two; the outcome's ``detail`` is what it printed.

    Any answer to the request is a success, whatever its status (kubelet lifecycle/handlers.go:runHTTPHandler, 1.36).
    ``limit_seconds`` is how long anybody waits for it, None for as long as it takes.
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

# Actions.


@dataclass(frozen=True, slots=True)
class Perform:
    """Run these effects, at the same time if there are several, and answer with ``Performed``."""

    ticket: int
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Give up waiting for the effects of a ticket; it is still to be answered, with errors."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Record:
    """An event about the pod, or with a ``field_path`` about one of its containers."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    field_path: str = ""


@dataclass(frozen=True, slots=True)
class Publish:
    """Set the pod's status: ``terminating`` stops liveness and startup probes, otherwise probes are added."""

    phase: PodPhase
    pod_ip: str
    containers: Mapping[str, ContainerStatus]
    terminating: bool


@dataclass(frozen=True, slots=True)
class Arm:
    """Answer with ``Due`` at this time; replaces the deadline armed before. None disarms."""

    deadline_ns: int | None


@dataclass(frozen=True, slots=True)
class StopProbing:
    """Every container is dead: end the workers that are left (kubelet ``RemovePod``)."""


@dataclass(frozen=True, slots=True)
class Forget:
    """Nothing of the pod is left; the machine is done."""


Action: TypeAlias = Perform | Cancel | Record | Publish | Arm | StopProbing | Forget

# Inputs.


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull that succeeded: how long it took, how long with its wait for other pulls, and the image's bytes."""

    took_ns: int = 0
    with_wait_ns: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one effect ended. ``error`` is the error with its code, ``detail`` the runtime's own words; "" if it did."""

    id: str = ""
    error: str = ""
    detail: str = ""
    pull: Pull = Pull()


@dataclass(frozen=True, slots=True)
class Observed:
    """The runtime as it is now."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Performed:
    """The effects of a ticket have ended; ``outcomes`` in their order, ``snapshot`` taken afterwards."""

    ticket: int
    outcomes: tuple[Outcome, ...]
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class SyncRequested:
    """A result or a status changed: look at the pod."""


@dataclass(frozen=True, slots=True)
class Due:
    """The armed deadline has come."""


@dataclass(frozen=True, slots=True)
class Release:
    """Start these containers now, if they wait for their turn to be restarted."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Terminate:
    """The pod's manifest is gone: end it within its grace, or within ``grace_seconds``, or ``at_once``.

    ``at_once`` kills with no grace at all, below the kubelet's minimum: the operator asked twice.
    """

    grace_seconds: int | None = None
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Restart:
    """Replace a running container that nothing is wrong with; ``message`` is its Killing event, without the suffix.

    Not a crash: it starts again at once, and its back-off stays as it was.
    """

    container_id: str
    message: str


Input: TypeAlias = Observed | Performed | SyncRequested | Due | Release | Restart | Terminate
