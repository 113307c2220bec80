"""A pod as the mapping and the restart decision read it."""

from typing import Any

import msgspec

from probelet.beside.guard.names import CONTEXT, NO_PROTECT, OPT_IN, OPTED_IN, READINESS_GATE, RELATED_PUB
from probelet.beside.guard.objects.moment import nanoseconds
from probelet.beside.guard.objects.owner import Owner, controller_of
from probelet.spec.model.meta import Object, ObjectMeta
from probelet.spec.model.pod import PodReadinessGate, PodStatus
from probelet.spec.rules.defaults import TERMINATION_GRACE_PERIOD_SECONDS


class _Port(Object, frozen=True, kw_only=True):
    name: str = ""
    container_port: int = 0


class _Container(Object, frozen=True, kw_only=True):
    name: str = ""
    ports: list[_Port] = msgspec.field(default_factory=list)
    startup_probe: dict[str, Any] | None = None


class _Spec(Object, frozen=True, kw_only=True):
    containers: list[_Container] = msgspec.field(default_factory=list)
    restart_policy: str = ""
    node_name: str = ""
    host_network: bool = False
    termination_grace_period_seconds: int | None = None
    readiness_gates: list[PodReadinessGate] = msgspec.field(default_factory=list)


class _Pod(Object, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: _Spec = _Spec()
    status: PodStatus = PodStatus()


class GuardedContainer(msgspec.Struct, frozen=True, gc=False):
    """A regular container and its current instance."""

    name: str
    ports: tuple[tuple[str, int], ...] = ()
    """The ports that have a name, with their numbers."""
    has_startup_probe: bool = False
    container_id: str = ""
    """``containerd://...``; empty before the first instance."""
    restart_count: int = 0
    is_ready: bool = False
    started_ns: int | None = None
    """When the running instance started, by the node's clock; None if it does not run."""


class GuardedPod(msgspec.Struct, frozen=True, gc=False):
    """A pod that opted in, or that has a context from the time when it did."""

    namespace: str
    name: str
    uid: str
    is_opted_in: bool
    context: str
    """The annotation with its liveness probes; empty without one."""
    node: str = ""
    ip: str = ""
    is_on_host_network: bool = False
    is_active: bool = True
    """False once it has ended or is being deleted."""
    is_ready: bool = False
    restart_policy: str = "Always"
    grace_seconds: int = TERMINATION_GRACE_PERIOD_SECONDS
    has_readiness_gate: bool = False
    """Whether OpenKruise's readiness gate is among its gates."""
    labels: dict[str, str] = {}
    owner: Owner | None = None
    budget: str = ""
    """The PodUnavailableBudget that OpenKruise wrote into its annotations."""
    is_unprotected: bool = False
    """Whether it asks PodUnavailableBudgets to ignore it."""
    containers: tuple[GuardedContainer, ...] = ()

    def container(self, name: str) -> GuardedContainer | None:
        """The container of that name."""
        return next((each for each in self.containers if each.name == name), None)


def read_pod(pod: dict[str, Any]) -> GuardedPod | None:
    """Reads a v1.Pod; None if it has nothing to do with enhanced liveness."""
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    if OPT_IN not in annotations and CONTEXT not in annotations:
        return None
    read = msgspec.convert(pod, _Pod, strict=False)
    meta, spec, status = read.metadata, read.spec, read.status
    return GuardedPod(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        is_opted_in=meta.annotations.get(OPT_IN) == OPTED_IN,
        context=meta.annotations.get(CONTEXT, ""),
        node=spec.node_name,
        ip=status.pod_ip,
        is_on_host_network=spec.host_network,
        is_active=status.phase not in ("Succeeded", "Failed") and meta.deletion_timestamp is None,
        is_ready=any(each.type == "Ready" and each.status == "True" for each in status.conditions),
        restart_policy=spec.restart_policy or "Always",
        grace_seconds=_or_default(spec.termination_grace_period_seconds),
        has_readiness_gate=any(gate.condition_type == READINESS_GATE for gate in spec.readiness_gates),
        labels=meta.labels,
        owner=controller_of(meta.owner_references),
        budget=next((meta.annotations[key] for key in RELATED_PUB if key in meta.annotations), ""),
        is_unprotected=meta.annotations.get(NO_PROTECT) == "true",
        containers=tuple(_container(each, status) for each in spec.containers),
    )


def _container(container: _Container, status: PodStatus) -> GuardedContainer:
    found = next((each for each in status.container_statuses if each.name == container.name), None)
    ports = tuple((port.name, port.container_port) for port in container.ports if port.name)
    if found is None:
        return GuardedContainer(container.name, ports, container.startup_probe is not None)
    return GuardedContainer(
        name=container.name,
        ports=ports,
        has_startup_probe=container.startup_probe is not None,
        container_id=found.container_id,
        restart_count=found.restart_count,
        is_ready=found.ready,
        started_ns=None if found.state.running is None else nanoseconds(found.state.running.started_at) or 0,
    )


def _or_default(grace: int | None) -> int:
    return TERMINATION_GRACE_PERIOD_SECONDS if grace is None else grace
