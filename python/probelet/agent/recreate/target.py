"""The container that a request is about, as the kubelet noted it in the runtime: hook, ports, grace period."""

import asyncio
from collections.abc import Callable

import msgspec
import structlog

from probelet.beside.takeover.names import PRE_STOP_IDEMPOTENT
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen import labels
from probelet.spec.model.container import Container, ContainerPort, Lifecycle, LifecycleHandler
from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.rules.defaults import TERMINATION_GRACE_PERIOD_SECONDS

log = structlog.get_logger("probelet.agent")


class KnownPod(msgspec.Struct, frozen=True):
    """A pod without its definition. ``is_idempotent``: its preStop hooks may run twice."""

    uid: str
    namespace: str
    name: str
    is_idempotent: bool


class Target:
    """A pod whose container is killed for a request (``KilledPod``)."""

    def __init__(
        self, pod: Pod, terminating: asyncio.Event, observe: Callable[[str], None], address: Callable[[str], str]
    ) -> None:
        self.uid = pod.metadata.uid
        self.full_name = pod.full_name
        self.pod = pod
        self.terminating = terminating
        self._observe = observe
        self._address = address

    def observe(self) -> None:
        """The cache has news of this pod."""
        self._observe(self.uid)

    def address(self) -> str:
        """The address of the pod, for HTTP hooks; empty without one."""
        return self._address(self.uid)


def noted(pod: KnownPod, container: str, status: api_pb2.ContainerStatus, grace_seconds: int | None) -> Pod:
    """The pod with this container alone. ``grace_seconds``: the request's; None: the pod's own."""
    annotations = status.annotations
    grace = labels.count_in(annotations.get(labels.POD_GRACE, "")) if grace_seconds is None else grace_seconds
    found = Container(name=container, ports=_ports(annotations.get(labels.PORTS, "")))
    if hook := _hook(pod, container, annotations.get(labels.PRE_STOP, "")):
        found = msgspec.structs.replace(found, lifecycle=Lifecycle(pre_stop=hook))
    return bare_pod(pod, found, grace)


def bare_pod(pod: KnownPod, container: Container, grace: int | None) -> Pod:
    """A pod of one container."""
    annotations = {PRE_STOP_IDEMPOTENT: "true"} if pod.is_idempotent else {}
    return Pod(
        metadata=ObjectMeta(name=pod.name, namespace=pod.namespace, uid=pod.uid, annotations=annotations),
        spec=PodSpec(
            containers=[container],
            termination_grace_period_seconds=TERMINATION_GRACE_PERIOD_SECONDS if grace is None else grace,
        ),
    )


def _hook(pod: KnownPod, container: str, text: str) -> LifecycleHandler | None:
    try:
        return msgspec.json.decode(text, type=LifecycleHandler) if text else None
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        log.warning(
            "hook noted by the runtime left out",
            pod=f"{pod.namespace}/{pod.name}",
            container=container,
            error=str(error),
        )
        return None


def _ports(text: str) -> list[ContainerPort]:
    try:
        return msgspec.json.decode(text, type=list[ContainerPort]) if text else []
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        # A hook that names a port then fails with an event.
        return []
