"""The probes that a NodePodProbe asks for. Nothing but this reading has checked them: the object has no webhook."""

from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from probelet.base.printable import printable
from probelet.beside.probes.tolerant import fields, items, text
from probelet.spec.model.probe import HTTPGetAction, Probe, TCPSocketAction
from probelet.spec.rules.defaults import set_probe_defaults
from probelet.spec.rules.validate_probe import validate_probe

PROBES_MAX: Final = 4_000
"""Most probes of one node that are read: an object of 1 MiB has room for no more, and a kubelet takes 110 pods."""

LOOPBACK: Final = ("127.0.0.1", "::1")
"""The hosts, beside its own address, that a probe of a pod on the host's network may name (S-2)."""

Key: TypeAlias = tuple[str, str]
"""The UID of a pod and the name of one of its probes."""


class Wanted(msgspec.Struct, frozen=True, gc=False):
    """One probe of the object. Two that are equal ask for the same."""

    uid: str
    namespace: str
    pod: str
    """The pod's name."""
    name: str
    container: str
    probe: Probe
    """With defaults, without a host and without a grace period, which no attempt reads."""
    host: str = ""
    """The host that the probe names; empty for most."""
    problem: str = ""
    """Why the probe cannot run, in one line; empty for a good one."""

    @property
    def key(self) -> Key:
        """Which state is its own."""
        return self.uid, self.name

    @property
    def full_name(self) -> str:
        """``namespace/name`` of the pod."""
        return f"{self.namespace}/{self.pod}"

    @property
    def is_dialled(self) -> bool:
        """Whether the probe needs the pod's address."""
        return self.probe.exec is None

    def counts_as(self, other: "Wanted") -> bool:
        """Whether failures of the one say something about the other: the same container, handler and thresholds."""
        return _counted(self) == _counted(other)


def read_wanted(obj: dict[str, Any]) -> dict[Key, Wanted]:
    """The probes by key, in the order of the object. A mistake costs the probe that has it; of two probes with one key
    the first one counts."""
    wanted: dict[Key, Wanted] = {}
    for index, entry in enumerate(items(fields(obj.get("spec")).get("podProbes"))):
        for place, raw in enumerate(items(entry.get("probes"))):
            found = _wanted(entry, raw, f"spec.podProbes[{index}].probes[{place}]")
            if found.uid and found.name and len(wanted) < PROBES_MAX:
                wanted.setdefault(found.key, found)
    return wanted


def refused_host(wanted: Wanted, address: str, *, on_host_network: bool) -> str:
    """Why a probe may not run on the pod at ``address``, in one line; empty if it may."""
    allowed = (address, *LOOPBACK) if on_host_network else (address,)
    if not wanted.host or not address or wanted.host in allowed:
        return ""
    return f"host {printable(wanted.host)}: must be empty or the pod's own address, {address}"


def _wanted(entry: dict[str, Any], raw: dict[str, Any], path: str) -> Wanted:
    probe, host, problem = Probe(), "", ""
    try:
        probe = msgspec.convert(raw.get("probe") or {}, Probe)
    except msgspec.ValidationError as error:
        problem = f"{path}.probe: {error}"
    else:
        probe, host, problem = _checked(probe, f"{path}.probe")
    return Wanted(
        uid=text(entry.get("uid")),
        namespace=text(entry.get("namespace")),
        pod=text(entry.get("name")),
        name=text(raw.get("name")),
        container=text(raw.get("containerName")),
        probe=probe,
        host=host,
        problem=printable(problem),
    )


def _checked(probe: Probe, path: str) -> tuple[Probe, str, str]:
    """The probe as it runs, the host that it names, and its mistakes."""
    defaulted = set_probe_defaults(replace(probe, termination_grace_period_seconds=None))
    assert defaulted is not None, "only None has None for defaults"
    # A PodProbeMarker may ask for two successes, which the API allows readiness probes alone.
    mistakes = [str(mistake.shortened()) for mistake in validate_probe(defaulted, "readiness", path)]
    action = defaulted.http_get or defaulted.tcp_socket
    if action is not None and isinstance(action.port, str) and not mistakes:
        mistakes = [f"{path}: port {action.port!r} is a name, and the object should have its number"]
    return without_host(defaulted), host_of(defaulted), "; ".join(mistakes)


def host_of(probe: Probe) -> str:
    """The host that a probe names; empty for most."""
    action = probe.http_get or probe.tcp_socket
    return "" if action is None else action.host


def without_host(probe: Probe) -> Probe:
    """The probe without the host that it names."""

    def bare(action: HTTPGetAction | TCPSocketAction) -> Any:
        return replace(action, host="")

    http, tcp = probe.http_get, probe.tcp_socket
    return replace(probe, http_get=http and bare(http), tcp_socket=tcp and bare(tcp))


def _counted(wanted: Wanted) -> Wanted:
    probe = replace(wanted.probe, initial_delay_seconds=0, period_seconds=0, timeout_seconds=0)
    return replace(wanted, probe=probe)
