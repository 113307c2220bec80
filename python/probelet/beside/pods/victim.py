"""Which containers a sync finds failed."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from probelet.policy import messages
from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.policy.rules.grace import KillReason
from probelet.policy.rules.kind import Kind, containers
from probelet.policy.rules.restart import restart_spec
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod

Cause = Literal[KillReason.LIVENESS, KillReason.STARTUP, KillReason.RECREATE]
"""The last one is that of a ContainerRecreateRequest."""


class Victim(msgspec.Struct, frozen=True):
    """A running instance that is to be killed; ``message`` is that of its Killing event."""

    container: Container
    kind: Kind
    record: ContainerRecord
    reason: Cause
    message: str


def victims(pod: Pod, seen: Snapshot, probes: ProbeState) -> Iterator[Victim]:
    """The victims among the instances of ``seen``, which has only what has begun.

    Regular containers as in kubelet kuberuntime_manager.go:computePodActions, liveness first; sidecars as in
    computeInitContainerActions, where a failed start hides everything else (1.36). No other init container is probed.
    """
    for kind, container in containers(pod):
        record = seen.newest(container.name)
        if kind == "init" or record is None or record.state is not State.RUNNING:
            continue
        if kind == "sidecar":
            reason = _of_sidecar(container, record, probes)
        elif probes.result("liveness", record.id) == "Failure":
            reason = KillReason.LIVENESS
        else:
            reason = KillReason.STARTUP if probes.result("startup", record.id) == "Failure" else None
        if reason is not None:
            yield Victim(container, kind, record, reason, _message(pod, container, kind, reason))


def _of_sidecar(container: Container, record: ContainerRecord, probes: ProbeState) -> Cause | None:
    if container.startup_probe is not None and (startup := probes.result("startup", record.id)) != "Success":
        return KillReason.STARTUP if startup == "Failure" else None
    is_dead = container.liveness_probe is not None and probes.result("liveness", record.id) == "Failure"
    return KillReason.LIVENESS if is_dead else None


def _message(pod: Pod, container: Container, kind: Kind, reason: Cause) -> str:
    probe = "liveness" if reason is KillReason.LIVENESS else "startup"
    message = messages.failed_probe(container.name, probe, init=kind == "sidecar")
    restarts = kind == "regular" and restart_spec(pod, container).after_kill()
    return messages.will_be_restarted(message) if restarts else message
