"""A v1.Service: the fields that decide which pods get its traffic (Kubernetes 1.36)."""

import msgspec

from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.meta import Int32, Object, ObjectMeta


class ServicePort(Object, frozen=True, kw_only=True):
    """A port of a Service."""

    name: str = ""
    port: Int32 = 0
    target_port: IntOrString | None = None
    """None: ``port``."""
    protocol: str = "TCP"

    @property
    def target(self) -> IntOrString:
        """The port of the pods, a number or a name."""
        return self.target_port or self.port


class ServiceSpec(Object, frozen=True, kw_only=True):
    """The wanted state of a Service."""

    selector: dict[str, str] = msgspec.field(default_factory=dict)
    """Empty: it selects no pod."""
    ports: list[ServicePort] = msgspec.field(default_factory=list)
    publish_not_ready_addresses: bool = False
    type: str = "ClusterIP"
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    """``None`` for a headless Service."""


class ServiceObject(Object, frozen=True, kw_only=True):
    """A v1.Service."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()
