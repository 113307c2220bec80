"""One pod of the node for the detector of incidents: its probes, what a probe has killed, what ended by itself."""

from probelet.host.incident_subjects import CommandReader, asks_of, revision_of, subjects, workload_of
from probelet.host.incident_watch import IncidentWatch
from probelet.policy.facts.snapshot import ContainerRecord
from probelet.policy.protocol.effects import KillContainer
from probelet.policy.rules.grace import KillReason
from probelet.policy.rules.kind import containers
from probelet.spec.model.pod import Pod
from probelet.spec.read.load import Manifest

BY_PROBES = frozenset({KillReason.LIVENESS, KillReason.STARTUP})


class IncidentPod:
    """Tells ``watch`` of a pod on ``node``; ``read_command`` is None where nothing is noticed."""

    def __init__(self, watch: IncidentWatch, node: str, read_command: CommandReader | None) -> None:
        self._watch = watch
        self._node = node
        self._read_command = read_command
        # Instances that this node stops, until they are seen to have ended.
        self._stopped: set[str] = set()

    def known(self, manifest: Manifest) -> None:
        """The pod runs by this manifest from now on."""
        if self._read_command is not None:
            pod, of = manifest.pod, manifest.object
            template = "" if of is None or of.kind in ("", "Pod") else f"{of.kind}/{of.name}"
            found = subjects(pod, self._node, template or workload_of(pod), asks_of(pod, self._read_command))
            self._watch.know(found, revision_of(pod))

    def over(self, uid: str) -> None:
        """The pod ends, or its probes have ended."""
        self._stopped.clear()
        self._watch.forget(uid)

    def killing(self, uid: str, kill: KillContainer) -> None:
        """The node stops a container."""
        self._stopped.add(kill.container_id)
        if kill.reason in BY_PROBES:
            self._watch.killed(uid, kill.name)

    def exited(self, pod: Pod, record: ContainerRecord) -> None:
        """A container has ended. One that this node stopped, or that has done its work, is no trouble."""
        if record.id in self._stopped:
            self._stopped.discard(record.id)
            return
        found = next((each for each in containers(pod) if each[1].name == record.name), None)
        if found is None:
            return
        kind, container = found
        policy = container.restart_policy or ("" if kind == "init" else pod.spec.restart_policy)
        if record.exit_code or policy == "Always":
            self._watch.exited(pod.metadata.uid, record.name)
