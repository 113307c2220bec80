"""One pod for the detector of incidents: its probes, what a probe has killed, what ended by itself."""

from probelet.host.incidents.watch import IncidentWatch
from probelet.policy.facts.snapshot import ContainerRecord
from probelet.policy.incidents.subjects import CommandReader, asks_of, revision_of, subjects, workload_of
from probelet.policy.rules.kind import containers
from probelet.spec.model.pod import Pod


class IncidentPod:
    """Tells ``watch`` of a pod on ``node``; ``read_command`` is None where nothing is noticed."""

    def __init__(self, watch: IncidentWatch, node: str, read_command: CommandReader | None) -> None:
        self._watch = watch
        self._node = node
        self._read_command = read_command
        # Instances that the process stops, until they are seen to have ended.
        self._stopped: set[str] = set()

    def known(self, pod: Pod, template: str = "") -> None:
        """The pod is probed from now on. ``template`` is ``Kind/name`` of the object whose template made it, empty if
        its owner says that."""
        if self._read_command is not None:
            found = subjects(pod, self._node, template or workload_of(pod), asks_of(pod, self._read_command))
            self._watch.know(found, revision_of(pod))

    def over(self, uid: str) -> None:
        """The pod ends, or its probes have ended."""
        self._stopped.clear()
        self._watch.forget(uid)

    def killing(self, uid: str, container: str, container_id: str, *, by_probe: bool) -> None:
        """The process stops a container; it may say so again."""
        if container_id not in self._stopped:
            self._stopped.add(container_id)
            if by_probe:
                self._watch.killed(uid, container)

    def exited(self, pod: Pod, record: ContainerRecord) -> None:
        """A container has ended. One that the process stopped, or that has done its work, is no trouble."""
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
