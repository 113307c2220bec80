"""The result of computing a sync: the containers to kill and to start."""

from dataclasses import dataclass, field

import msgspec

from probelet.policy.facts.snapshot import ContainerRecord
from probelet.policy.rules.grace import KillReason
from probelet.policy.rules.restart_all import Reset
from probelet.spec.model.container import Container


class Victim(msgspec.Struct, frozen=True):
    """A container that is to be killed, and what its Killing event will say."""

    record: ContainerRecord
    reason: KillReason
    message: str


@dataclass(slots=True)
class PodActions:
    """The kubelet's ``podActions``. Everything in ``kill`` and ``reset`` ends before anything in ``start*`` begins."""

    kill_pod: bool = False
    create_sandbox: bool = False
    sandbox_id: str = ""
    attempt: int = 0
    kill: list[Victim] = field(default_factory=list)
    reset: list[Reset] = field(default_factory=list)
    start_init: list[Container] = field(default_factory=list)
    start: list[Container] = field(default_factory=list)
