"""Validates containers of every kind (core ``validateContainers`` and its siblings, 1.36).

It does not require ``image``: that depends on the runtime (``needed``).
"""

from probelet.spec.model.container import Container, ContainerPort, ContainerRestartRule
from probelet.spec.model.pod import PodSpec
from probelet.spec.model.probe import PROBE_TYPES
from probelet.spec.model.resources import validate_resources
from probelet.spec.rules.names import dns1123_label, port_name, port_number
from probelet.spec.rules.security.contexts import validate_security
from probelet.spec.rules.validate_env import named, validate_env
from probelet.spec.rules.validate_network import host_port_conflicts
from probelet.spec.rules.validate_probe import unsupported_value, validate_lifecycle, validate_probe
from probelet.spec.text.problem import FieldError

PULL_POLICIES = ("Always", "IfNotPresent", "Never")
RESTART_POLICIES = ("Always", "Never", "OnFailure")
RESTART_RULE_ACTIONS = ("Restart", "RestartAllContainers")
RESTART_RULE_OPERATORS = ("In", "NotIn")
MESSAGE_POLICIES = ("FallbackToLogsOnError", "File")
PORT_PROTOCOLS = ("SCTP", "TCP", "UDP")

# KEP-5307.
RESTART_RULES_MAX = 20
RESTART_RULE_VALUES_MAX = 255

NOT_FOR_INIT = "may not be set for init containers without restartPolicy=Always"
NOT_FOR_EPHEMERAL = "cannot be set for an Ephemeral Container"


def validate_containers(spec: PodSpec) -> list[FieldError]:
    """Checks all containers: regular, init, ephemeral. A name may occur once in the whole pod."""
    seen: set[str] = set()
    errors = [] if spec.containers else [FieldError("spec.containers", "Required value")]
    for index, container in enumerate(spec.containers):
        path = f"spec.containers[{index}]"
        errors += _shared(container, spec, path) + _unique(container, path, seen)
        errors += _probed(container, spec, path) + _restart(container, path)
    errors += host_port_conflicts(spec.containers)
    for index, container in enumerate(spec.init_containers):
        path = f"spec.initContainers[{index}]"
        errors += _shared(container, spec, path) + _restart(container, path) + _unique(container, path, seen)
        if container.restart_policy == "Always":
            errors += _probed(container, spec, path)
        else:
            errors += _forbidden(container, path, NOT_FOR_INIT)
    for index, container in enumerate(spec.ephemeral_containers):
        path = f"spec.ephemeralContainers[{index}]"
        errors += _shared(container, spec, path) + _unique(container, path, seen)
        target = container.target_container_name
        if target and all(target != other.name for other in spec.containers + spec.init_containers):
            errors.append(FieldError(f"{path}.targetContainerName", "Not found", target))
        errors += _forbidden(container, path, NOT_FOR_EPHEMERAL)
    return errors


def _shared(container: Container, spec: PodSpec, path: str) -> list[FieldError]:
    errors = named(f"{path}.name", container.name, dns1123_label)
    said = container.termination_message_policy
    if said and said not in MESSAGE_POLICIES:
        errors.append(unsupported_value(f"{path}.terminationMessagePolicy", said, MESSAGE_POLICIES))
    errors += _ports(container.ports, f"{path}.ports") + validate_env(container, path)
    policy = container.image_pull_policy
    if policy and policy not in PULL_POLICIES:
        errors.append(unsupported_value(f"{path}.imagePullPolicy", policy, PULL_POLICIES))
    if container.resources is not None:
        errors += validate_resources(container.resources, f"{path}.resources")
    host_users = spec.host_users is not False
    return errors + validate_security(container.security_context, f"{path}.securityContext", host_users=host_users)


def _unique(container: Container, path: str, seen: set[str]) -> list[FieldError]:
    """Checks that the name is new; a second empty name is a duplicate too."""
    if container.name not in seen:
        seen.add(container.name)
        return []
    return [FieldError(f"{path}.name", "Duplicate value", container.name)]


def _probed(container: Container, spec: PodSpec, path: str) -> list[FieldError]:
    errors = []
    if container.lifecycle is not None:
        grace = spec.termination_grace_period_seconds
        errors += validate_lifecycle(container.lifecycle, grace, f"{path}.lifecycle")
    for probe_type, probe in container.probes.items():
        errors += validate_probe(probe, probe_type, f"{path}.{probe_type}Probe")
    return errors


def _forbidden(container: Container, path: str, detail: str) -> list[FieldError]:
    """Refuses hooks and probes on a kind that has none, in the API server's order for that kind."""
    present = [f"{probe_type}Probe" for probe_type in PROBE_TYPES if container.probe(probe_type) is not None]
    if container.lifecycle is not None:
        # The API server lists the hooks first for init containers, last for ephemeral ones (the order of their type).
        present.insert(0 if detail == NOT_FOR_INIT else len(present), "lifecycle")
    return [FieldError(f"{path}.{name}", "Forbidden", detail=detail) for name in present]


def _ports(ports: list[ContainerPort], path: str) -> list[FieldError]:
    errors = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        inner = f"{path}[{index}]"
        if port.name:
            texts = port_name(port.name)
            errors += [FieldError(f"{inner}.name", "Invalid value", port.name, text) for text in texts]
            if not texts and port.name in seen:
                errors.append(FieldError(f"{inner}.name", "Duplicate value", port.name))
            seen.add(port.name)
        if port.container_port == 0:
            errors.append(FieldError(f"{inner}.containerPort", "Required value"))
        else:
            errors += _number(f"{inner}.containerPort", port.container_port)
        if port.host_port:
            errors += _number(f"{inner}.hostPort", port.host_port)
        if not port.protocol:
            errors.append(FieldError(f"{inner}.protocol", "Required value"))
        elif port.protocol not in PORT_PROTOCOLS:
            errors.append(unsupported_value(f"{inner}.protocol", port.protocol, PORT_PROTOCOLS))
    return errors


def _number(path: str, number: int) -> list[FieldError]:
    return [FieldError(path, "Invalid value", number, text) for text in port_number(number)]


def _restart(container: Container, path: str) -> list[FieldError]:
    """Checks a container's own restart policy and rules (KEP-5307, beta and on since 1.35)."""
    errors = []
    policy, rules = container.restart_policy, container.restart_policy_rules
    if policy is None:
        if rules:
            detail = "must specify restartPolicy when restart rules are used"
            errors.append(FieldError(f"{path}.restartPolicy", "Required value", detail=detail))
    elif policy not in RESTART_POLICIES:
        errors.append(unsupported_value(f"{path}.restartPolicy", policy, RESTART_POLICIES))
    if len(rules) > RESTART_RULES_MAX:
        errors.append(_too_many(f"{path}.restartPolicyRules", len(rules), RESTART_RULES_MAX))
    for index, rule in enumerate(rules):
        errors += _rule(rule, f"{path}.restartPolicyRules[{index}]")
    return errors


def _rule(rule: ContainerRestartRule, path: str) -> list[FieldError]:
    errors = []
    if rule.action not in RESTART_RULE_ACTIONS:
        errors.append(unsupported_value(f"{path}.action", rule.action, RESTART_RULE_ACTIONS))
    codes = rule.exit_codes
    if codes is None:
        errors.append(FieldError(f"{path}.exitCodes", "Required value", detail="must be specified"))
        return errors
    if codes.operator not in RESTART_RULE_OPERATORS:
        errors.append(unsupported_value(f"{path}.exitCodes.operator", codes.operator, RESTART_RULE_OPERATORS))
    if len(codes.values) > RESTART_RULE_VALUES_MAX:
        errors.append(_too_many(f"{path}.exitCodes.values", len(codes.values), RESTART_RULE_VALUES_MAX))
    return errors


def _too_many(path: str, count: int, count_max: int) -> FieldError:
    return FieldError(path, "Too many", count, f"must have at most {count_max} items")
