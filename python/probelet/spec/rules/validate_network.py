"""Validates what a pod says of its network: ports of the host, names, aliases (core ``ValidatePodSpec``, 1.36)."""

from probelet.spec.model.container import Container
from probelet.spec.model.pod import PodSpec
from probelet.spec.rules.names import dns1123_label, dns1123_subdomain, ip_address
from probelet.spec.rules.validate_env import named
from probelet.spec.text.problem import FieldError

HOSTNAME_OVERRIDE_LENGTH_MAX = 64


def host_port_conflicts(containers: list[Container]) -> list[FieldError]:
    """A port of the host that two regular containers ask for (``checkHostPortConflicts``)."""
    errors = []
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.ports):
            text = f"{port.protocol}/{port.host_ip}/{port.host_port}"
            if port.host_port and text in taken:
                path = f"spec.containers[{index}].ports[{number}].hostPort"
                errors.append(FieldError(path, "Duplicate value", text))
            taken.add(text)
    return errors


def validate_host_network(spec: PodSpec) -> list[FieldError]:
    """On the host's network a container has no ports of its own (``validatePodHostNetworkDeps``)."""
    detail = "must match `containerPort` when `hostNetwork` is true"
    return [
        FieldError(f"spec.containers[{index}].ports[{number}].hostPort", "Invalid value", port.host_port, detail)
        for index, container in enumerate(spec.containers if spec.host_network else ())
        for number, port in enumerate(container.ports)
        if port.host_port != port.container_port
    ]


def validate_hostname_override(spec: PodSpec) -> list[FieldError]:
    """``validatePodHostName``."""
    name, path = spec.hostname_override, "spec.hostnameOverride"
    if name is None:
        return []
    errors = []
    if spec.set_hostname_as_fqdn:
        errors.append(FieldError(path, "Forbidden", detail="may not be specified when setHostnameAsFQDN is true"))
    if spec.host_network:
        errors.append(FieldError(path, "Forbidden", detail="may not be specified when hostNetwork is true"))
    if len(name.encode()) > HOSTNAME_OVERRIDE_LENGTH_MAX:
        detail = f"may not be more than {HOSTNAME_OVERRIDE_LENGTH_MAX} bytes"
        errors.append(FieldError(path, "Too long", detail=detail))
    return errors + [FieldError(path, "Invalid value", name, text) for text in dns1123_subdomain(name)]


def validate_names(spec: PodSpec) -> list[FieldError]:
    """``hostname``, ``subdomain``, then ``hostAliases`` (``ValidateHostAliases``)."""
    errors = named("spec.hostname", spec.hostname, dns1123_label) if spec.hostname else []
    errors += named("spec.subdomain", spec.subdomain, dns1123_label) if spec.subdomain else []
    for index, alias in enumerate(spec.host_aliases):
        path = f"spec.hostAliases[{index}]"
        errors += [FieldError(f"{path}.ip", "Invalid value", alias.ip, text) for text in ip_address(alias.ip)]
        for number, name in enumerate(alias.hostnames):
            inner = f"{path}.hostnames[{number}]"
            errors += [FieldError(inner, "Invalid value", name, text) for text in dns1123_subdomain(name)]
    return errors
