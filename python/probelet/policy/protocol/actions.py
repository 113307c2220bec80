"""The actions that a pod's machine asks for.

The driver carries out actions in their order. Actions without an answer (``Record``, ``Publish``, ``Arm`` ...) are done
on the spot. One ``Performed`` with the same ticket answers a ``Perform`` when *all* its effects have ended; the effects
of one ticket may run at the same time. Several tickets are open at once only while containers of the pod are killed
together, and while a preStop hook runs. The machine asks nothing else of the runtime until the driver has answered
them: a kill blocks its pod.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from probelet.policy.protocol.effects import Effect
from probelet.policy.status.container_status import ContainerStatus
from probelet.spec.model.pod import Pod, PodPhase


class Perform(msgspec.Struct, frozen=True):
    """Run these effects, at the same time if there are several, and answer with ``Performed``."""

    ticket: int
    effects: tuple[Effect, ...]


class Cancel(msgspec.Struct, frozen=True):
    """Give up waiting for the effects of a ticket; it is still to be answered, with errors."""

    ticket: int


class Record(msgspec.Struct, frozen=True):
    """An event about the pod, or with a ``field_path`` about one of its containers."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    field_path: str = ""


class Publish(msgspec.Struct, frozen=True):
    """Set the pod's status: ``terminating`` stops liveness and startup probes, otherwise probes are added."""

    phase: PodPhase
    pod_ip: str
    containers: Mapping[str, ContainerStatus]
    terminating: bool


class Define(msgspec.Struct, frozen=True):
    """From here on the pod is this one: actions that follow are about it, and its new probes begin with its status."""

    pod: Pod
    live: bool = False
    """Whether the probes that run become those of ``pod``."""


class Arm(msgspec.Struct, frozen=True):
    """Answer with ``Due`` at this time; replaces the deadline armed before. None disarms."""

    deadline_ns: int | None


class Recheck(msgspec.Struct, frozen=True):
    """Take the liveness failure of this container back, whose kill waits: its probe goes on, and its next failure is
    one again."""

    container: str


class StopProbing(msgspec.Struct, frozen=True):
    """Every container is dead: end the workers that are left (kubelet ``RemovePod``)."""


class Forget(msgspec.Struct, frozen=True):
    """Nothing of the pod is left; the machine is done."""


Action: TypeAlias = Perform | Cancel | Record | Publish | Define | Arm | Recheck | StopProbing | Forget
