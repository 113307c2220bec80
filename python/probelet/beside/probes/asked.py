"""The probes that a pod's own annotation asks for. An entry of a NodePodProbe that asks for something else is refused:
otherwise a writer of that object could have any command run in any container of the node."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from probelet.beside.guard.context.codec import ContextError, decode
from probelet.beside.guard.names import CONTEXT
from probelet.beside.probes.wanted import Wanted, host_of, without_host
from probelet.spec.model.pod_object import PodObject
from probelet.spec.model.probe import HTTPGetAction, Probe, TCPSocketAction
from probelet.spec.rules.defaults import set_probe_defaults

Handler: TypeAlias = tuple[Any, ...]
"""The host and the action of a probe."""

Asked: TypeAlias = Mapping[str, tuple[Handler, ...]]
"""The handlers of an annotation by container, with defaults and with numbers for named ports."""

NOTHING: Final[Asked] = {}


def asked_of(pod: PodObject) -> Asked:
    """The handlers that the annotation of a pod asks for; none if it cannot be read."""
    text = pod.annotations.get(CONTEXT)
    if not text:
        return NOTHING
    try:
        entries = decode(text)
    except ContextError:
        return NOTHING
    ports = {container.name: _ports(container.ports) for container in pod.spec.containers or ()}
    found: dict[str, tuple[Handler, ...]] = {}
    for entry in entries:
        probe = set_probe_defaults(entry.liveness_probe)
        assert probe is not None, "only None has None for defaults"
        numbered = _numbered(probe, ports.get(entry.name, {}))
        found[entry.name] = (*found.get(entry.name, ()), _handler(without_host(numbered), host_of(numbered)))
    return found


def unasked(wanted: Wanted, asked: Asked) -> str:
    """Why a probe may not run, in one line; empty if the annotation asks for the same handler in the same container.
    How often it runs, and how many failures count, is the cluster's to say."""
    if _handler(wanted.probe, wanted.host) in asked.get(wanted.container, ()):
        return ""
    what = "command" if wanted.probe.exec is not None else "request"
    return f"its {what} does not stand in the pod's annotation {CONTEXT}"


def _handler(probe: Probe, host: str) -> Handler:
    return host, probe.exec, probe.http_get, probe.tcp_socket, probe.grpc


def _numbered(probe: Probe, ports: Mapping[str, int]) -> Probe:
    """The probe with numbers for names of ports; a name that means no port stays, and so equals nothing that runs."""

    def numbered(action: HTTPGetAction | TCPSocketAction) -> Any:
        port = action.port
        return action if isinstance(port, int) else replace(action, port=ports.get(port, port))

    http, tcp = probe.http_get, probe.tcp_socket
    return replace(probe, http_get=http and numbered(http), tcp_socket=tcp and numbered(tcp))


def _ports(ports: list[dict[str, Any]] | None) -> dict[str, int]:
    named = ((port.get("name"), port.get("containerPort")) for port in ports or ())
    return {name: number for name, number in named if isinstance(name, str) and isinstance(number, int)}
