"""The ways from clients to Services: Ingress, HTTPRoute, VirtualService. They are where client timeouts are written."""

from typing import Any

import msgspec

from probelet.lint.model.neighbour import Neighbour
from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.meta import Object


class Route(Neighbour, frozen=True, kw_only=True):
    """An object that sends requests to Services."""

    @property
    def service_names(self) -> frozenset[str]:
        """The Services of the route's own namespace that it sends requests to."""
        raise NotImplementedError


class IngressServicePort(Object, frozen=True, kw_only=True):
    """The port of a Service, by number or name."""

    number: int = 0
    name: str = ""


class IngressService(Object, frozen=True, kw_only=True):
    """A Service behind an Ingress."""

    name: str = ""
    port: IngressServicePort = IngressServicePort()


class IngressBackend(Object, frozen=True, kw_only=True):
    """Where requests go; ``service_name`` is the spelling before networking.k8s.io/v1."""

    service: IngressService | None = None
    service_name: str = ""
    service_port: IntOrString | None = None

    @property
    def name(self) -> str:
        """The Service's name; empty for a resource."""
        return self.service.name if self.service is not None else self.service_name


class IngressPath(Object, frozen=True, kw_only=True):
    """Requests with a path."""

    path: str = ""
    backend: IngressBackend = IngressBackend()


class IngressHTTP(Object, frozen=True, kw_only=True):
    """The paths of a host."""

    paths: list[IngressPath] = msgspec.field(default_factory=list)


class IngressRule(Object, frozen=True, kw_only=True):
    """Requests for a host."""

    host: str = ""
    http: IngressHTTP | None = None


class IngressSpec(Object, frozen=True, kw_only=True):
    """Where requests go."""

    default_backend: IngressBackend | None = None
    rules: list[IngressRule] = msgspec.field(default_factory=list)
    tls: list[Any] = msgspec.field(default_factory=list)


class Ingress(Route, frozen=True, kw_only=True):
    """A networking.k8s.io Ingress."""

    spec: IngressSpec = IngressSpec()

    @property
    def service_names(self) -> frozenset[str]:
        backends = [path.backend for rule in self.spec.rules if rule.http is not None for path in rule.http.paths]
        if self.spec.default_backend is not None:
            backends.append(self.spec.default_backend)
        return frozenset(backend.name for backend in backends if backend.name)


class BackendRef(Object, frozen=True, kw_only=True):
    """A backend of a rule."""

    kind: str = "Service"
    name: str = ""
    namespace: str = ""
    port: int | None = None


class RouteTimeouts(Object, frozen=True, kw_only=True):
    """Durations such as ``10s`` (gateway-api GEP-2257)."""

    request: str = ""
    backend_request: str = ""


class HTTPRouteRule(Object, frozen=True, kw_only=True):
    """Requests of one kind."""

    backend_refs: list[BackendRef] = msgspec.field(default_factory=list)
    timeouts: RouteTimeouts = RouteTimeouts()


class HTTPRouteSpec(Object, frozen=True, kw_only=True):
    """Where requests go."""

    rules: list[HTTPRouteRule] = msgspec.field(default_factory=list)


class HTTPRoute(Route, frozen=True, kw_only=True):
    """A gateway.networking.k8s.io HTTPRoute or GRPCRoute."""

    spec: HTTPRouteSpec = HTTPRouteSpec()

    @property
    def service_names(self) -> frozenset[str]:
        return frozenset(ref.name for rule in self.spec.rules for ref in rule.backend_refs if ref.kind == "Service")


class Destination(Object, frozen=True, kw_only=True):
    """A Service by its host name: ``web``, ``web.shop``, ``web.shop.svc.cluster.local``."""

    host: str = ""


class VirtualDestination(Object, frozen=True, kw_only=True):
    """A share of the requests."""

    destination: Destination = Destination()


class VirtualHTTPRoute(Object, frozen=True, kw_only=True):
    """Requests of one kind."""

    route: list[VirtualDestination] = msgspec.field(default_factory=list)
    timeout: str = ""
    """A duration such as ``10s``; empty: none."""


class VirtualServiceSpec(Object, frozen=True, kw_only=True):
    """Where requests go."""

    http: list[VirtualHTTPRoute] = msgspec.field(default_factory=list)


class VirtualService(Route, frozen=True, kw_only=True):
    """A networking.istio.io VirtualService."""

    spec: VirtualServiceSpec = VirtualServiceSpec()

    @property
    def service_names(self) -> frozenset[str]:
        hosts = (share.destination.host for rule in self.spec.http for share in rule.route)
        return frozenset(host.partition(".")[0] for host in hosts if host)
