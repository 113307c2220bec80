"""Carries out the effects of one pod's machine on the model of the container runtime."""

from collections.abc import Callable
from typing import Final

from probelet.policy.protocol.effects import (
    CreateContainer,
    Effect,
    InspectImage,
    KillContainer,
    Outcome,
    PullImage,
    RemoveContainer,
    RemoveSandbox,
    RunSandbox,
    StartContainer,
    StopSandbox,
)
from probelet.spec.model.pod import Pod
from probelet.spec.text.duration import SECOND
from probelet.virtual.agenda import Agenda
from probelet.virtual.runtime import KILLED, PodRuntime
from probelet.virtual.workload import Workload

CANCELED: Final = Outcome(error="rpc error: code = Canceled desc = context canceled", detail="context canceled")
"""How a call ends that the machine gave up."""


class Effects:
    """The calls of one pod. ``on_exit`` is called with the name and the id of a container that ends by itself."""

    def __init__(
        self, pod: Pod, runtime: PodRuntime, workload: Workload, agenda: Agenda, on_exit: Callable[[str, str], None]
    ) -> None:
        self.pod = pod
        """The pod as its machine last defined it."""
        self._runtime = runtime
        self._workload = workload
        self._agenda = agenda
        self._on_exit = on_exit

    def takes_ns(self, effect: Effect) -> int:
        """How long an effect takes that begins now."""
        if isinstance(effect, KillContainer):
            return min(self._workload.ends_ns(self.pod, effect), effect.grace_seconds * SECOND)
        return self._workload.takes_ns(self.pod, effect)

    def perform(self, effect: Effect) -> Outcome:
        """Carries out an effect, at the moment it ends."""
        if error := self._workload.error(self.pod, effect):
            return Outcome(error=f"rpc error: code = Unknown desc = {error}", detail=error)
        runtime, now = self._runtime, self._agenda.now
        match effect:
            case RunSandbox(attempt):
                return Outcome(id=runtime.run_sandbox(attempt))
            case StopSandbox(sandbox_id):
                runtime.stop_sandbox(sandbox_id)
            case RemoveSandbox(sandbox_id):
                runtime.remove_sandbox(sandbox_id)
            case InspectImage(image):
                return Outcome(id=f"sha256:{image}" if self._workload.image_present(image) else "")
            case PullImage(image):
                return Outcome(id=f"sha256:{image}", pull=self._workload.pulled(effect))
            case CreateContainer():
                return Outcome(id=runtime.create(effect, now))
            case StartContainer(name, container_id):
                self._start(name, container_id)
            case KillContainer():
                if runtime.exit(effect.container_id, KILLED, now):
                    self._workload.ended(self.pod, effect.name)
            case RemoveContainer(_, container_id):
                runtime.remove(container_id)
        return Outcome()

    def _start(self, name: str, container_id: str) -> None:
        now = self._agenda.now
        self._runtime.start(container_id, now)
        runs_ns = self._workload.runs_ns(self.pod, name)
        if runs_ns is not None:
            self._agenda.at(now + runs_ns, lambda: self._on_exit(name, container_id))
