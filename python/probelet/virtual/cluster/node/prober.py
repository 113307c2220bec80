"""A prober whose liveness results do not reach the pods' machines."""

from collections.abc import Callable

from msgspec.structs import replace

from probelet._rust import Simulation
from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import Snapshot
from probelet.spec.model.pod import Pod
from probelet.virtual.prober import Line, SimulatedProber


class GuardedProber(SimulatedProber):
    """Probes as ever. While ``is_guarded`` says so, a kubelet sees no liveness result, as of a pod whose liveness probe
    the webhook took out of its spec."""

    def __init__(
        self, simulation: Simulation, on_record: Callable[[str, Line], None], is_guarded: Callable[[], bool]
    ) -> None:
        super().__init__(simulation, on_record)
        self._is_guarded = is_guarded

    def probe_state(self, pod: Pod, snapshot: Snapshot) -> ProbeState:
        """The published results of the pod, without the liveness results while the cluster is guarded."""
        state = super().probe_state(pod, snapshot)
        if not self._is_guarded():
            return state
        return replace(state, results={key: result for key, result in state.results.items() if key[0] != "liveness"})
