"""A pod's entry in the NodePodProbe of its node."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from probelet.beside.guard.context.check import check_values
from probelet.beside.guard.context.codec import ContextError, decode
from probelet.beside.guard.objects.pod import GuardedContainer, GuardedPod
from probelet.beside.guard.objects.probe_name import Naming, probe_name
from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.probe import Probe
from probelet.spec.rules.defaults import set_probe_defaults

Reason: TypeAlias = Literal[
    "ELPExecChanged",
    "ELPHostRefused",
    "ELPInvalidContext",
    "ELPProbeMapped",
    "ELPSizeLimit",
    "ELPUnknownContainer",
    "ELPUnresolvedPort",
    "ELPUnsupportedNode",
]

Digests: TypeAlias = Mapping[str, str]
"""The digest of each container's exec command, by container; a container whose probe runs no command has none."""

LOOPBACK = "127.0.0.1"


@dataclass(slots=True)
class Entry:
    """The probes that the mapping wants for a pod."""

    body: dict[str, Any] | None = None
    """The entry as JSON; None if no probe is left."""
    problems: list[tuple[Reason, str]] = field(default_factory=list)
    """Why probes are missing, for events of the pod."""
    digests: dict[str, str] | None = None
    """The pod's digests now, to compare with the next time; None while its annotation was never readable."""


def entry_of(pod: GuardedPod, naming: Naming, seen: Digests | None) -> Entry:
    """The entry of a pod that opted in.

    ``seen``: the digests from when the mapping first saw the pod, so that a later change of its annotation adds no
    command (S-1); None at first sight, and where an admission policy guards the annotation.
    """
    entry = Entry(digests=None if seen is None else dict(seen))
    try:
        written = decode(pod.context)
    except ContextError as error:
        entry.problems.append(("ELPInvalidContext", str(error)))
        return entry
    entry.digests = dict(seen or {})
    wanted: dict[str, Probe] = {}
    for index, each in enumerate(written):
        mistakes = check_values(each.liveness_probe, f"[{index}].livenessProbe", hosts=True)
        if pod.container(each.name) is None:
            entry.problems.append(("ELPUnknownContainer", f"the pod has no container {each.name!r}"))
        elif each.name in wanted:
            entry.problems.append(("ELPInvalidContext", f"[{index}].name: Duplicate value: {each.name!r}"))
        elif mistakes:
            entry.problems.append(("ELPInvalidContext", "; ".join(mistakes)))
        else:
            wanted[each.name] = each.liveness_probe
    probes = list(_probes(pod, naming, wanted, seen, entry))
    if probes:
        entry.body = {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid, "IP": pod.ip, "probes": probes}
    return entry


def _probes(
    pod: GuardedPod, naming: Naming, wanted: dict[str, Probe], seen: Digests | None, entry: Entry
) -> Iterator[dict[str, Any]]:
    for container in pod.containers:
        probe = wanted.get(container.name)
        if probe is None or not _may_run(pod, container, probe, seen, entry):
            continue
        if probe.exec is None and not pod.ip:
            # It follows when the pod has an address; without one the probe would fail.
            continue
        resolved = _resolved(container, probe, entry)
        if resolved is not None:
            yield {
                "name": probe_name(naming, pod.name, container.name),
                "containerName": container.name,
                "probe": msgspec.to_builtins(resolved),
            }


def _may_run(pod: GuardedPod, container: GuardedContainer, probe: Probe, seen: Digests | None, entry: Entry) -> bool:
    """Whether a probe does nothing that its author may not do: run another command, or dial another address."""
    if probe.exec is not None:
        digest = sha256("\0".join(probe.exec.command).encode()).hexdigest()[:16]
        if seen is not None and seen.get(container.name) != digest:
            text = f"the exec command of container {container.name} is not the one that the pod first had"
            entry.problems.append(("ELPExecChanged", text))
            return False
        assert entry.digests is not None
        entry.digests[container.name] = digest
        return True
    action = probe.http_get or probe.tcp_socket
    host = "" if action is None else action.host
    if host in ("", pod.ip) or (pod.is_on_host_network and host == LOOPBACK):
        return True
    text = f"the probe of container {container.name} names the host {host!r}; only the pod's own address is probed"
    entry.problems.append(("ELPHostRefused", text))
    return False


def _resolved(container: GuardedContainer, probe: Probe, entry: Entry) -> Probe | None:
    """The probe with defaults and with numbers for named ports; None if a name means no port."""
    defaulted = set_probe_defaults(probe)
    assert defaulted is not None
    if defaulted.http_get is not None:
        port = _port(container, defaulted.http_get.port, entry)
        return None if port is None else replace(defaulted, http_get=replace(defaulted.http_get, port=port))
    if defaulted.tcp_socket is not None:
        port = _port(container, defaulted.tcp_socket.port, entry)
        return None if port is None else replace(defaulted, tcp_socket=replace(defaulted.tcp_socket, port=port))
    return defaulted


def _port(container: GuardedContainer, port: IntOrString, entry: Entry) -> int | None:
    if isinstance(port, int):
        return port
    found = dict(container.ports).get(port)
    if found is None:
        entry.problems.append(("ELPUnresolvedPort", f"container {container.name} has no port named {port!r}"))
    return found
