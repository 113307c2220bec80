"""Validates a pod with the API server's paths, kinds, details and order (core ``ValidatePod``, 1.36).

It checks the fields that probelet reads; opaque fields pass unchecked. The input must be a defaulted pod.
"""

from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.model.resources import validate_resources
from probelet.spec.rules.names import dns1123_label, dns1123_subdomain, pod_uid, qualified_name
from probelet.spec.rules.security.contexts import validate_host_users, validate_os, validate_pod_security
from probelet.spec.rules.security.profiles import match_app_armor_annotations, validate_app_armor_annotations
from probelet.spec.rules.validate_container import validate_containers
from probelet.spec.rules.validate_env import named
from probelet.spec.rules.validate_network import validate_host_network, validate_hostname_override, validate_names
from probelet.spec.rules.validate_probe import non_negative, unsupported_value
from probelet.spec.text.problem import FieldError

# The API server's own order.
POD_RESTART_POLICIES = ("Always", "OnFailure", "Never")

ACTIVE_DEADLINE_SECONDS_MAX = 2**31 - 1


def validate(pod: Pod) -> list[FieldError]:
    """Every mistake of a defaulted pod in the API server's order; empty if the server would admit the pod."""
    errors = _meta(pod.metadata)
    errors += validate_app_armor_annotations(pod)
    errors += _spec(pod.spec)
    return [*errors, *match_app_armor_annotations(pod)]


def _meta(meta: ObjectMeta) -> list[FieldError]:
    errors = []
    if not meta.name:
        detail = "name or generateName is required"
        if meta.generate_name:
            detail = "the API server makes a name of generateName, and a static pod needs one of its own"
        errors.append(FieldError("metadata.name", "Required value", detail=detail))
    else:
        errors += named("metadata.name", meta.name, dns1123_subdomain)
    errors += named("metadata.namespace", meta.namespace, dns1123_label)
    # A static pod without a UID gets one later.
    return errors + (named("metadata.uid", meta.uid, pod_uid) if meta.uid else [])


def _spec(spec: PodSpec) -> list[FieldError]:
    errors = validate_containers(spec)
    if spec.resources is not None:
        errors += validate_resources(spec.resources, "spec.resources")
    errors += validate_host_network(spec)
    if not spec.restart_policy:
        errors.append(FieldError("spec.restartPolicy", "Required value"))
    elif spec.restart_policy not in POD_RESTART_POLICIES:
        errors.append(unsupported_value("spec.restartPolicy", spec.restart_policy, POD_RESTART_POLICIES))
    grace = spec.termination_grace_period_seconds
    if grace is not None:
        errors += non_negative("spec.terminationGracePeriodSeconds", grace)
    errors += validate_pod_security(spec) + _gates(spec)
    errors += validate_host_users(spec) + validate_hostname_override(spec)
    deadline = spec.active_deadline_seconds
    if deadline is not None and not 1 <= deadline <= ACTIVE_DEADLINE_SECONDS_MAX:
        detail = f"must be between 1 and {ACTIVE_DEADLINE_SECONDS_MAX}, inclusive"
        errors.append(FieldError("spec.activeDeadlineSeconds", "Invalid value", deadline, detail))
    return errors + validate_names(spec) + validate_os(spec)


def _gates(spec: PodSpec) -> list[FieldError]:
    """``validateReadinessGates``, ``validateSchedulingGates``."""
    errors = []
    for index, gate in enumerate(spec.readiness_gates):
        path = f"spec.readinessGates[{index}].conditionType"
        texts = qualified_name(gate.condition_type)
        errors += [FieldError(path, "Invalid value", gate.condition_type, text) for text in texts]
    seen: set[str] = set()
    for index, scheduling in enumerate(spec.scheduling_gates):
        path = f"spec.schedulingGates[{index}]"
        texts = qualified_name(scheduling.name)
        errors += [FieldError(path, "Invalid value", scheduling.name, text) for text in texts]
        if scheduling.name in seen:
            errors.append(FieldError(path, "Duplicate value", scheduling.name))
        seen.add(scheduling.name)
    return errors
