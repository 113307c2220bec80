"""The probes of a pod of a cluster as the detector of incidents knows them."""

from collections.abc import Iterator

from probelet.policy.incidents import Subject
from probelet.policy.incidents.subjects import subjects
from probelet.spec.model.container import Container
from probelet.spec.model.probe import Probe, ProbeType
from probelet.virtual.cluster.behaviour import Behaviour
from probelet.virtual.cluster.controllers.workload import Workload
from probelet.virtual.cluster.node.pod import ClusterPod


def pod_subjects(workload: Workload, pod: ClusterPod, *, named: bool = True) -> Iterator[Subject]:
    """One for each probe of a pod of ``workload``. ``named``: whether it is known what probes ask."""
    behaviours = workload.versions[pod.version - 1].behaviours

    def asks(container: Container, probe_type: ProbeType, probe: Probe) -> tuple[str, ...]:
        # The code of a container answers no tcpSocket probe, so nothing is asked.
        if probe.tcp_socket is not None or not named:
            return ()
        return tuple(behaviours.get(container.name, Behaviour()).asks.get(probe_type, ()))

    return subjects(pod.pod, pod.node, detector_name(workload), asks)


def detector_name(workload: Workload) -> str:
    """``Kind/name`` of a workload; empty for a pod that nothing manages."""
    return "" if workload.kind == "Pod" else f"{workload.kind}/{workload.name}"
