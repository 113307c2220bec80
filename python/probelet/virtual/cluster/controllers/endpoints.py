"""Services: which pods they send requests to. Endpoints follow the readiness of pods with a delay."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from probelet._rust import ClusterModel
from probelet.spec.model.pod import Pod
from probelet.spec.model.service import ServiceSpec
from probelet.spec.text.duration import SECOND
from probelet.virtual.agenda import Agenda
from probelet.virtual.cluster.node.pod import ClusterPod


@dataclass
class Traffic:
    """The requests for a Service. Times in nanoseconds, the rate in requests a second."""

    rate: float
    timeout_ns: int
    slo_ns: int

    def encode(self, rate: float | None) -> bytes:
        """Returns the traffic for the model, with ``rate`` instead of its own rate."""
        found: dict[str, Any] = {"timeout_ns": self.timeout_ns, "slo_ns": self.slo_ns}
        return msgspec.json.encode({**found, "rate": self.rate if rate is None else rate})


@dataclass
class Service:
    """A Service and its endpoints."""

    name: str
    """The Service's name in the cluster."""
    namespace: str
    spec: ServiceSpec | None
    """None: it was made for a workload without one."""
    workload: str = ""
    """The workload whose pods it selects, the first of several."""
    traffic: Traffic | None = None
    number: int | None = None
    """Its number in the model, once it has traffic."""
    step: float | None = None
    """The rate of a traffic step."""
    endpoints: dict[str, ClusterPod] = field(default_factory=dict)
    """By UID."""
    counts: list[tuple[float, int]] = field(default_factory=list)
    """From each time on, how many endpoints."""
    wanted: list[tuple[float, int]] = field(default_factory=list)
    """From each time on, how many replicas the workload should have."""

    def selects(self, pod: Pod, workload: str) -> bool:
        """Whether a pod of that workload is one of its own."""
        if self.spec is None:
            return workload == self.workload
        selector, labels = self.spec.selector, pod.metadata.labels
        is_here = pod.metadata.namespace == self.namespace
        return is_here and bool(selector) and all(labels.get(key) == value for key, value in selector.items())

    def container_of(self, pod: Pod) -> str:
        """The container that serves: the one that has the target port, or else the first regular one."""
        ports = [] if self.spec is None else self.spec.ports
        targets = {port.target for port in ports[:1]}
        for container in pod.spec.containers:
            if any(port.container_port in targets or port.name in targets for port in container.ports):
                return container.name
        return pod.spec.containers[0].name


class Endpoints:
    """The endpoints of all Services. ``on_change`` is called after each change with the Service and its count."""

    def __init__(
        self, agenda: Agenda, model: ClusterModel, delay_ns: int, on_change: Callable[[Service, int], None]
    ) -> None:
        self.services: dict[str, Service] = {}
        self._agenda = agenda
        self._model = model
        self._delay_ns = delay_ns
        self._on_change = on_change
        # What was last asked for, by Service and pod.
        self._asked: dict[tuple[str, str], bool] = {}

    def update(self, pod: ClusterPod) -> None:
        """A pod may have become ready or not: the Services that select it follow after the delay."""
        for service in self.services.values():
            if not service.selects(pod.pod, pod.workload):
                continue
            takes_all = service.spec is not None and service.spec.publish_not_ready_addresses
            belongs = not pod.is_gone and not pod.is_terminating and (pod.is_ready or takes_all)
            key = (service.name, pod.uid)
            if self._asked.get(key, False) != belongs:
                self._asked[key] = belongs
                self._later(service, pod, belongs=belongs)
            if pod.is_gone:
                self._asked.pop(key, None)

    def _later(self, service: Service, pod: ClusterPod, *, belongs: bool) -> None:
        self._agenda.at(self._agenda.now + self._delay_ns, lambda: self._set(service, pod, belongs=belongs))

    def _set(self, service: Service, pod: ClusterPod, *, belongs: bool) -> None:
        if belongs:
            service.endpoints[pod.uid] = pod
        else:
            service.endpoints.pop(pod.uid, None)
        count = len(service.endpoints)
        moment = self._agenda.now / SECOND
        if service.counts and service.counts[-1][0] == moment:
            service.counts.pop()
        service.counts.append((moment, count))
        self.send(service)
        self._on_change(service, count)

    def offer(self, service: Service) -> None:
        """Tell the model what a Service is offered now."""
        assert service.traffic is not None, "it has traffic"
        now, described = self._agenda.now, service.traffic.encode(service.step)
        if service.number is None:
            service.number = self._model.add_service(now, described)
            self.send(service)
        else:
            self._model.describe_service(now, service.number, described)

    def send(self, service: Service) -> None:
        """Tell the model the endpoints of a Service."""
        if service.number is not None:
            pods = service.endpoints.values()
            numbers = [pod.numbers[service.container_of(pod.pod)] for pod in pods]
            self._model.set_endpoints(self._agenda.now, service.number, numbers)
