"""A pod as the mapping and the restart decision read it."""

import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from probelet.beside.guard.names import CONTEXT, NO_PROTECT, OPT_IN, OPTED_IN, READINESS_GATE, RELATED_PUB
from probelet.beside.guard.objects.moment import nanoseconds
from probelet.beside.guard.objects.owner import Owner, controller_of
from probelet.spec.annotation.depends_on import ANNOTATION as DEPENDS_ON
from probelet.spec.model.pod import PodStatus
from probelet.spec.model.pod_object import ContainerPart, PodObject, annotations_of, read_pod_object
from probelet.spec.rules.defaults import TERMINATION_GRACE_PERIOD_SECONDS


class GuardedContainer(msgspec.Struct, frozen=True, gc=False):
    """A regular container and its current instance."""

    name: str
    image: str = ""
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
    depends_on: str = ""
    """Its annotation with the names that its probes ask beyond their own containers."""
    containers: tuple[GuardedContainer, ...] = ()

    def container(self, name: str) -> GuardedContainer | None:
        """The container of that name."""
        return next((each for each in self.containers if each.name == name), None)


def _is_guarded(annotations: Mapping[str, str]) -> bool:
    """True if a pod with these annotations has to do with enhanced liveness."""
    return OPT_IN in annotations or CONTEXT in annotations


def guarded_of(pod: PodObject) -> GuardedPod | None:
    """The pod; None if it has nothing to do with enhanced liveness."""
    meta, spec, status, annotations = pod.metadata, pod.spec, pod.status or PodStatus(), pod.annotations
    if not _is_guarded(annotations):
        return None
    # A namespace and a node have many pods, which share the texts.
    grace = spec.termination_grace_period_seconds
    return GuardedPod(
        namespace=sys.intern(meta.namespace or ""),
        name=meta.name or "",
        uid=meta.uid or "",
        is_opted_in=annotations.get(OPT_IN) == OPTED_IN,
        context=annotations.get(CONTEXT, ""),
        node=sys.intern(spec.node_name or ""),
        ip=status.pod_ip,
        is_on_host_network=spec.host_network is True,
        is_active=status.phase not in ("Succeeded", "Failed") and meta.deletion_timestamp is None,
        is_ready=any(each.type == "Ready" and each.status == "True" for each in status.conditions),
        restart_policy=sys.intern(spec.restart_policy or "Always"),
        grace_seconds=TERMINATION_GRACE_PERIOD_SECONDS if grace is None else grace,
        has_readiness_gate=pod.has_gate(READINESS_GATE),
        labels=meta.labels or {},
        owner=controller_of(meta.owner_references or ()),
        budget=next((annotations[key] for key in RELATED_PUB if key in annotations), ""),
        is_unprotected=annotations.get(NO_PROTECT) == "true",
        depends_on=sys.intern(annotations.get(DEPENDS_ON, "")),
        containers=tuple(_container(each, status) for each in spec.containers or ()),
    )


def read_pod(found: dict[str, Any]) -> GuardedPod | None:
    """``guarded_of`` for a v1.Pod as JSON data; decodes only pods with enhanced liveness."""
    return guarded_of(read_pod_object(found)) if _is_guarded(annotations_of(found)) else None


def _container(container: ContainerPart, status: PodStatus) -> GuardedContainer:
    name = container.name or ""
    found = next((each for each in status.container_statuses if each.name == name), None)
    ports = tuple((port["name"], port.get("containerPort") or 0) for port in container.ports or () if port.get("name"))
    image = sys.intern(container.image or "")
    if found is None:
        return GuardedContainer(name, image, ports, container.startup_probe is not None)
    return GuardedContainer(
        name=name,
        image=image,
        ports=ports,
        has_startup_probe=container.startup_probe is not None,
        container_id=found.container_id,
        restart_count=found.restart_count,
        is_ready=found.ready,
        started_ns=None if found.state.running is None else nanoseconds(found.state.running.started_at) or 0,
    )
