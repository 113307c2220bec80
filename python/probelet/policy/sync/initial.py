"""Init containers and sidecars: kubelet kuberuntime_container.go:computeInitContainerActions, 1.36.

The walk begins at the end of the list, because the runtime may have forgotten init containers that are done: the last
one that it still knows shows how far the pod came. Every container before that one has been initialised.
"""

from collections.abc import Mapping

from probelet.policy import messages
from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.policy.rules.grace import KillReason
from probelet.policy.rules.kind import is_sidecar
from probelet.policy.rules.restart import definition, restart_spec, should_start
from probelet.policy.sync.plan import PodActions, Victim
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod


class _Walk:
    """The walk's state: ``initialized`` becomes the answer, ``previously`` says whether a later container was seen."""

    def __init__(
        self, pod: Pod, snapshot: Snapshot, probes: ProbeState, actions: PodActions, to_replace: Mapping[str, str]
    ) -> None:
        self.pod = pod
        self.snapshot = snapshot
        self.probes = probes
        self.actions = actions
        self.to_replace = to_replace
        self.initialized = self.previously = any(_holds_initialized(snapshot, c) for c in pod.spec.containers)
        self.start: list[int] = []

    def visit(self, index: int) -> None:
        container = self.pod.spec.init_containers[index]
        record = self.snapshot.newest(container.name)
        if record is None:
            if self.previously and is_sidecar(container):
                self.start.append(index)
            return
        if self.previously and not is_sidecar(container):
            # After initialisation only sidecars are kept running.
            return
        match record.state:
            case State.CREATED:
                # Created but not started: the runtime failed between the two.
                self.start.append(index)
            case State.RUNNING if is_sidecar(container):
                self._running_sidecar(index, container, record)
            case State.RUNNING | State.ENDED:
                # Its exit decides what follows, and that is not known yet.
                pass
            case State.EXITED:
                self._exited(index, container, record)
            case State.UNKNOWN:
                self._unknown(index, container, record)
        self.previously = True

    def _done(self, index: int, *, first_time: bool) -> None:
        """This container has been initialised: the next one follows, or the regular containers."""
        if index == len(self.pod.spec.init_containers) - 1:
            self.initialized = True
        elif first_time:
            self.start.append(index + 1)

    def _running_sidecar(self, index: int, container: Container, record: ContainerRecord) -> None:
        if container.startup_probe is not None:
            startup = self.probes.result("startup", record.id)
            if startup == "Failure":
                self._replace(index, record, KillReason.STARTUP)
            if startup != "Success":
                return
        self._done(index, first_time=not self.previously)
        if record.definition != definition(container):
            self._replace(index, record, KillReason.DEFINITION)
        elif container.liveness_probe is not None and self.probes.result("liveness", record.id) == "Failure":
            self._replace(index, record, KillReason.LIVENESS)
        elif record.id in self.to_replace:
            self._replace(index, record, KillReason.MAX_AGE)

    def _replace(self, index: int, record: ContainerRecord, reason: KillReason) -> None:
        text = {
            KillReason.DEFINITION: messages.definition_changed(record.name, init=True),
            KillReason.LIVENESS: messages.failed_probe(record.name, "liveness", init=True),
            KillReason.MAX_AGE: self.to_replace.get(record.id, ""),
            KillReason.STARTUP: messages.failed_probe(record.name, "startup", init=True),
        }.get(reason, messages.unknown_state(init=True))
        self.actions.kill.append(Victim(record, reason, text))
        self.start.append(index)

    def _exited(self, index: int, container: Container, record: ContainerRecord) -> None:
        if is_sidecar(container):
            self.start.append(index)
        elif not _has_failed(record):
            self._done(index, first_time=True)
        elif should_start(self.pod, container, self.snapshot):
            self.start.append(index)
        else:
            self.actions.kill_pod = True

    def _unknown(self, index: int, container: Container, record: ContainerRecord) -> None:
        if not is_sidecar(container) and restart_spec(self.pod, container).policy == "Never":
            self.actions.kill_pod = True
        else:
            self._replace(index, record, KillReason.UNKNOWN)


def compute_init_actions(
    pod: Pod, snapshot: Snapshot, probes: ProbeState, actions: PodActions, to_replace: Mapping[str, str]
) -> bool:
    """Add the init containers' kills and starts to ``actions``; True when the pod is initialised."""
    count = len(pod.spec.init_containers)
    if not count:
        return True
    walk = _Walk(pod, snapshot, probes, actions, to_replace)
    for index in reversed(range(count)):
        walk.visit(index)
        if actions.kill_pod:
            return False
    if not walk.previously:
        walk.start.append(0)
    actions.start_init = [pod.spec.init_containers[index] for index in reversed(walk.start)]
    return walk.initialized


def _has_failed(record: ContainerRecord) -> bool:
    """A container that was killed for its memory has failed too, whatever its exit code (isInitContainerFailed)."""
    return record.exit_code != 0 or record.reason == "OOMKilled"


def _holds_initialized(snapshot: Snapshot, container: Container) -> bool:
    record = snapshot.newest(container.name)
    return record is not None and record.state in (State.CREATED, State.RUNNING)
