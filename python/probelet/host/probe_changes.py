"""The probes of one pod that change while its containers run, wherever they come from."""

from probelet.host.engine_host import EngineHost
from probelet.spec.annotation.probe_changes import PROBES_CHANGED, changed_probes, told
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ProbeType


class ProbeChanges:
    """``full_name`` is the pod's ``namespace/name``."""

    def __init__(self, host: EngineHost, uid: str, full_name: str) -> None:
        self.at_ms: dict[tuple[str, ProbeType], int] = {}
        """When probes changed last, by container and type, in Unix milliseconds."""
        self._host = host
        self._uid = uid
        self._full_name = full_name

    def take(self, before: Pod, now: Pod) -> list[str]:
        """The pod's workers go on with the probes of ``now``, with which the engine has defined it. An event says so;
        returns what changed."""
        said = changed_probes(before, now)
        if said:
            engine = self._host.engine
            engine.change_probes(self._uid)
            self.at_ms |= dict.fromkeys(said, engine.wall_ms())
            self._host.recorder.record(self._uid, self._full_name, "Normal", PROBES_CHANGED, told(said))
        return list(said.values())
