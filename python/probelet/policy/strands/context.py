"""The data that every strand of one pod shares: the pod, the current input, and the actions so far."""

from typing import Literal

from probelet.policy import messages
from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import Snapshot
from probelet.policy.protocol.actions import Action, Record
from probelet.policy.rules.kind import field_path
from probelet.spec.model.pod import Pod


class PodContext:
    """``now`` and ``probes`` belong to the input that the machine handles; ``out`` holds the actions it has led to.

    ``pod`` changes between two programmes only, and never its name or UID.
    """

    def __init__(self, pod: Pod) -> None:
        meta = pod.metadata
        self.pod = pod
        self.text = messages.pod_text(meta.name, meta.namespace, meta.uid)
        self.now = 0
        self.probes = ProbeState()
        self.snapshot = Snapshot()
        """The newest one; a sync may still work on an older one."""
        self.out: list[Action] = []
        self.failed = False
        """Whether an effect of this programme failed, so that the programme has to be tried again."""
        self.sync_requested = False
        """Whether something has asked for a sync that has not begun: several requests lead to one sync."""

    def record(self, type: Literal["Normal", "Warning"], reason: str, message: str, container: str = "") -> None:
        """An event about the pod, or about one of its containers."""
        path = ""
        if container:
            regular = any(known.name == container for known in self.pod.spec.containers)
            path = field_path("regular" if regular else "init", container)
        self.out.append(Record(type, reason, message, path))
