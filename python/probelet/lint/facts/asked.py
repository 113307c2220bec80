"""The hosts that a probe asks, and whether each of them is its own container: one reading for all rules."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Literal, TypeAlias

from probelet.lint.command.address import client
from probelet.lint.command.host import ITSELF, hosts, hosts_of, is_loopback
from probelet.lint.command.shell import program, script
from probelet.lint.command.statements import statements
from probelet.lint.model.workload import LintContainer, LintProbe, LintWorkload
from probelet.spec.model.env import EnvVar

Where: TypeAlias = Literal["container", "node", "own service", "own name", "other", "shared name", "unknown"]

API_SERVER: Final = "the API server"
"""The host of a command that asks it by its own means, as kubectl does."""

SHARED: Final = frozenset(
    {
        *("dependency", "dependencies", "downstream", "downstreams", "upstream", "upstreams"),
        *("db", "database", "databases", "postgres", "postgresql", "mysql", "mongo", "mongodb"),
        *("redis", "kafka", "rabbitmq", "amqp", "elasticsearch"),
    }
)
"""Words of a name that say that it is a dependency's."""

_KUBERNETES: Final = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")
_VARIABLE: Final = re.compile(
    r"\$(?:\{(?P<braced>[A-Za-z_]\w*)(?::?[-=](?P<default>[^{}]*))?\}|(?P<bare>[A-Za-z_]\w*))"
)
_ASSIGNED: Final = re.compile(r"(?:^|(?<=[\s;&|(]))([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s;&|)]*)")
_OWN_VARIABLES: Final = re.compile(r"HOSTNAME|HOST|(MY_)?POD_?(IP|NAME|ADDRESS|HOST)")
"""Variables that hold the pod's name or address, where the manifest does not say what they hold."""

_APPENDED: Final = re.compile(
    r"(-(svc|service|srv|headless|hs|internal|lb|nodeport|clusterip|deployment|deploy|statefulset|sts|pod))+$"
)
_READABLE: Final = re.compile(r"[\w.:-]+")

_OF_POD: Final = frozenset({"status.podIP", "status.podIPs", "metadata.name"})
_OF_NODE: Final = frozenset({"status.hostIP", "status.hostIPs", "spec.nodeName"})
_KUBECTL_ALONE: Final = frozenset({"config", "completion", "kustomize", "options", "plugin", "help"})
"""The commands of kubectl that ask nobody."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A host that a probe asks."""

    host: str
    """With the values of variables that the manifest has; empty for the container itself without a name."""
    where: Where
    """``own service``: the Service in front of these very pods. ``own name``: it has the workload's name, so it
    probably is that Service. ``other``: another host. ``shared name``: a variable whose name says that it is that of a
    dependency. ``unknown``: only the container knows."""
    field: str
    """The field of the probe that says so."""


def asked(probe: LintProbe) -> tuple[Asked, ...]:
    """Every host that the probe asks; empty for a command of which nobody knows what it asks."""
    if asked not in probe.memo:
        probe.memo[asked] = tuple(_asked(probe))
    found: tuple[Asked, ...] = probe.memo[asked]
    return found


def where(container: LintContainer, host: str) -> Where:
    """Whose the host is, without variables in it."""
    workload, first = container.workload, host.partition(".")[0]
    if host == ITSELF or is_loopback(host):
        return "container"
    if not _READABLE.fullmatch(host):
        # The output of a command, or a text that no client takes for an address.
        return "unknown"
    alias = next((each.ip for each in workload.pod.spec.host_aliases if host in each.hostnames), None)
    if alias is not None and alias != host:
        return where(container, alias)
    if _is_address(host):
        # Static pods have the address of their node.
        return "node" if workload.pod.spec.host_network else "other"
    if first in (workload.pod.spec.hostname, workload.name if workload.kind == "Pod" else ""):
        return "container"
    if workload.kind == "StatefulSet" and re.fullmatch(rf"{re.escape(workload.name)}-\d+", first):
        # One of these pods, and perhaps this one.
        return "unknown"
    if any(service.metadata.name == first and _is_in(workload, host) for service in workload.services):
        return "own service"
    labels = workload.pod.metadata.labels
    names = (workload.name, container.name, labels.get("app", ""), labels.get("app.kubernetes.io/name", ""))
    is_own = _stem(first) in {_stem(name) for name in names if name}
    return "own name" if is_own and _is_in(workload, host) else "other"


def asked_workloads(probe: LintProbe) -> Iterator[tuple[str, LintWorkload]]:
    """The Service and the workload behind it, for each Service whose only pods are those of one workload. A Service
    that also has unready pods is none of them."""
    for each in asked(probe):
        name, _, rest = each.host.partition(".")
        behind = [
            other
            for other in probe.container.workload.scope.workloads
            for service in other.services
            if service.metadata.name == name
            and not service.spec.publish_not_ready_addresses
            and rest.partition(".")[0] in ("", service.metadata.namespace)
        ]
        if len(behind) == 1:
            yield name, behind[0]


def _asked(probe: LintProbe) -> Iterator[Asked]:
    container = probe.container
    if probe.handler != "exec":
        if probe.host:
            yield Asked(probe.host, where(container, probe.host), f"{probe.handler}.host")
        return
    names = {entry.name for entry in container.spec.env}
    # The kubelet puts these values in before a shell sees the text.
    argv = [_KUBERNETES.sub(lambda m: f"${{{m[1]}}}" if m[1] in names else m[0], word) for word in probe.argv]
    text = script(argv)
    assigned = {name: value.strip("\"'") for name, value in _ASSIGNED.findall(text)} if text is not None else {}
    for words in statements(argv):
        for host, place in _of_program(container, words, assigned):
            yield Asked(host, place, "exec.command")


def _of_program(container: LintContainer, words: list[str], assigned: Mapping[str, str]) -> Iterator[tuple[str, Where]]:
    if program(words) == "kubectl":
        command = next((word for word in words[1:] if not word.startswith("-")), "")
        if command and command not in _KUBECTL_ALONE and "--client" not in words and "--client=true" not in words:
            yield API_SERVER, "other"
        return
    found = list(hosts(words))
    if not found and (syntax := client(program(words))) is not None:
        set_by = [name for name in syntax.variables if name in assigned or _variable(container, name) is not None]
        found = [f"${set_by[0]}"] if set_by else [ITSELF]
    for host in found:
        yield from _resolved(container, host, assigned)


def _resolved(container: LintContainer, host: str, assigned: Mapping[str, str]) -> Iterator[tuple[str, Where]]:
    """The host with the value of its variable, which may be a list, and whose it is."""
    if "$" not in host:
        yield host, where(container, host)
        return
    found = _VARIABLE.match(host)
    if found is None:
        yield host, "unknown"
        return
    name, rest = found["braced"] or found["bare"], host[found.end() :]
    entry = _variable(container, name)
    if name in assigned:
        yield from _of_value(container, assigned[name], rest)
    elif entry is not None and entry.value_from is None:
        yield from _of_value(container, entry.value, rest)
    elif entry is not None and entry.value_from is not None and entry.value_from.field_ref is not None:
        path = entry.value_from.field_ref.field_path
        yield host, "container" if path in _OF_POD else "node" if path in _OF_NODE else "unknown"
    elif name == "KUBERNETES_SERVICE_HOST":
        yield API_SERVER, "other"
    elif entry is None and _OWN_VARIABLES.fullmatch(name):
        yield host, "container"
    elif entry is None and found["default"]:
        yield from _of_value(container, found["default"], rest)
    else:
        # The value is in a ConfigMap, a Secret or the image.
        is_shared = not rest and not set(re.findall(r"[a-z]+", name.lower())).isdisjoint(SHARED)
        yield f"${name}" if is_shared else host, "shared name" if is_shared else "unknown"


def _of_value(container: LintContainer, value: str, rest: str) -> Iterator[tuple[str, Where]]:
    if "$" in value or "`" in value or "$" in rest:
        yield value + rest, "unknown"
        return
    for host in hosts_of(value + rest):
        yield host, where(container, host)


def _variable(container: LintContainer, name: str) -> EnvVar | None:
    # The last entry of a name counts.
    return next((entry for entry in reversed(container.spec.env) if entry.name == name), None)


def _stem(name: str) -> str:
    """The name without what people append to those of Services and workloads: ``orders-svc``, ``orders-deployment``."""
    return _APPENDED.sub("", name)


def _is_in(workload: LintWorkload, host: str) -> bool:
    """True unless the host's name has another namespace than the workload's: ``web.shop.svc``."""
    namespace = host.partition(".")[2].partition(".")[0]
    return not namespace or not workload.written_namespace or namespace == workload.written_namespace


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
