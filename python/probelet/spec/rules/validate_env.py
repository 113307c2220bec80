"""Validates where the variables of a container come from (core ``validateEnv``, ``ValidateEnvFrom``, 1.36)."""

import re
from fractions import Fraction
from typing import Any, Final

from probelet.spec.model.container import Container
from probelet.spec.model.env import (
    EnvFromSource,
    EnvSource,
    EnvVar,
    EnvVarSource,
    FileKeySelector,
    KeySelector,
    ObjectFieldSelector,
    ResourceFieldSelector,
)
from probelet.spec.rules.names import Rule, config_key, dns1123_label, dns1123_subdomain, env_name, qualified_name
from probelet.spec.rules.validate_probe import unsupported_value
from probelet.spec.text.problem import FieldError
from probelet.spec.text.quantity import parse_quantity

FIELD_PATHS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
"""The fields that ``fieldRef`` may name, beside an entry of the labels or the annotations."""

ENTRY: Final = re.compile(r"(?P<map>[^\[]+)\['(?P<key>.*)'\]", re.DOTALL)
"""An entry of a map: ``metadata.labels['app']``."""
_MAPS: Final = ("metadata.annotations", "metadata.labels")
# Fields that the API can convert, and that no variable may have.
_OTHER_PATHS: Final = (*_MAPS, "spec.restartPolicy", "spec.schedulerName", "status.phase", "spec.host")

_AMOUNTS: Final = ("ephemeral-storage", "memory", "cpu")
RESOURCES: Final = tuple(sorted(f"{kind}.{name}" for kind in ("limits", "requests") for name in _AMOUNTS))
_HUGE_PAGES: Final = ("limits.hugepages-", "requests.hugepages-")

_CPU_DIVISORS: Final[tuple[Fraction, ...]] = (Fraction(1, 1000), Fraction(1))
_DECIMAL_DIVISORS: Final = tuple(Fraction(10 ** (3 * power)) for power in range(7))
_BINARY_DIVISORS: Final = tuple(Fraction(2 ** (10 * power)) for power in range(7))
_BYTES_TEXT: Final = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with"

_ONE_SOURCE: Final = (
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
)
_SEVERAL: Final = "may not have more than one field specified at a time"


def named(path: str, value: str, rule: Rule) -> list[FieldError]:
    """Checks a required name."""
    return _matches(path, value, rule) if value else [FieldError(path, "Required value")]


def validate_env(container: Container, path: str) -> list[FieldError]:
    """Checks ``env``, then ``envFrom``, in the API server's order; ``path`` is the container's."""
    errors = []
    for index, variable in enumerate(container.env):
        errors += _variable(variable, f"{path}.env[{index}]")
    for index, source in enumerate(container.env_from):
        errors += _all_of(source, f"{path}.envFrom", index)
    return errors


def _matches(path: str, value: str, rule: Rule) -> list[FieldError]:
    return [FieldError(path, "Invalid value", value, text) for text in rule(value)]


def _variable(variable: EnvVar, path: str) -> list[FieldError]:
    errors = named(f"{path}.name", variable.name, env_name)
    source = variable.value_from
    if source is None:
        return errors
    inner = f"{path}.valueFrom"
    errors += _source(source, inner)
    count = sum(value is not None for value in _each(source))
    if count == 0:
        errors.append(FieldError(inner, "Invalid value", "", _ONE_SOURCE))
    elif variable.value:
        errors.append(FieldError(inner, "Invalid value", "", "may not be specified when `value` is not empty"))
    elif count > 1:
        errors.append(FieldError(inner, "Invalid value", "", _SEVERAL))
    return errors


def _each(source: EnvVarSource) -> tuple[object, ...]:
    return (
        source.field_ref,
        source.resource_field_ref,
        source.config_map_key_ref,
        source.secret_key_ref,
        source.file_key_ref,
    )


def _source(source: EnvVarSource, path: str) -> list[FieldError]:
    errors = []
    if source.field_ref is not None:
        errors += _field(source.field_ref, f"{path}.fieldRef")
    if source.resource_field_ref is not None:
        errors += _resource(source.resource_field_ref, f"{path}.resourceFieldRef")
    if source.config_map_key_ref is not None:
        errors += _key(source.config_map_key_ref, f"{path}.configMapKeyRef")
    if source.secret_key_ref is not None:
        errors += _key(source.secret_key_ref, f"{path}.secretKeyRef")
    if source.file_key_ref is not None:
        errors += _file_key(source.file_key_ref, f"{path}.fileKeyRef")
    return errors


def _field(selector: ObjectFieldSelector, path: str) -> list[FieldError]:
    inner = f"{path}.fieldPath"
    wanted = selector.field_path
    if not wanted:
        return [FieldError(inner, "Required value")]
    if selector.api_version != "v1":
        return [_inconvertible(inner, wanted, f"unsupported pod version: {selector.api_version}")]
    entry = ENTRY.fullmatch(wanted)
    if entry is not None and entry["map"] not in _MAPS:
        return [_inconvertible(inner, wanted, f"field label does not support subscript: {wanted}")]
    if entry is not None:
        key = entry["key"].lower() if entry["map"] == "metadata.annotations" else entry["key"]
        return _matches(path, key, qualified_name)
    if wanted in FIELD_PATHS:
        return []
    if wanted in _OTHER_PATHS:
        return [unsupported_value(inner, wanted, FIELD_PATHS)]
    return [_inconvertible(inner, wanted, f"field label not supported: {wanted}")]


def _inconvertible(path: str, value: str, why: str) -> FieldError:
    return FieldError(path, "Invalid value", value, f"error converting fieldPath: {why}")


def _resource(selector: ResourceFieldSelector, path: str) -> list[FieldError]:
    name = selector.resource
    errors = []
    if not name:
        errors.append(FieldError(f"{path}.resource", "Required value"))
    elif name not in RESOURCES and not name.startswith(_HUGE_PAGES):
        errors.append(unsupported_value(f"{path}.resource", name, RESOURCES))
    return errors + _divisor(selector.divisor, name, f"{path}.divisor")


def _divisor(divisor: Any, name: str, path: str) -> list[FieldError]:
    if divisor is None:
        return []
    try:
        value = parse_quantity(divisor)
    except ValueError as error:
        return [FieldError(path, "Invalid value", divisor, str(error))]
    resource = name.partition(".")[2]
    if resource == "cpu":
        allowed, text = _CPU_DIVISORS, "only divisor's values 1m and 1 are supported with the cpu resource"
    else:
        allowed = _BINARY_DIVISORS if str(divisor).endswith("i") else _DECIMAL_DIVISORS
        of = "local ephemeral storage" if resource == "ephemeral-storage" else resource.partition("-")[0]
        text = f"{_BYTES_TEXT} the {of} resource"
    return [] if value == 0 or value in allowed else [FieldError(path, "Invalid value", name, text)]


def _key(selector: KeySelector, path: str) -> list[FieldError]:
    return _matches(f"{path}.name", selector.name, dns1123_subdomain) + named(f"{path}.key", selector.key, config_key)


def _file_key(selector: FileKeySelector, path: str) -> list[FieldError]:
    errors = named(f"{path}.key", selector.key, env_name)
    errors += named(f"{path}.volumeName", selector.volume_name, dns1123_label)
    return errors if selector.path else [*errors, FieldError(f"{path}.path", "Required value")]


def _all_of(source: EnvFromSource, path: str, index: int) -> list[FieldError]:
    inner = f"{path}[{index}]"
    errors = _matches(f"{inner}.prefix", source.prefix, env_name) if source.prefix else []
    references: tuple[tuple[str, EnvSource | None], ...] = (
        ("configMapRef", source.config_map_ref),
        ("secretRef", source.secret_ref),
    )
    for name, reference in references:
        if reference is not None:
            errors += named(f"{inner}.{name}.name", reference.name, dns1123_subdomain)
    count = sum(reference is not None for _, reference in references)
    if count == 0:
        # As in the API server, this path has no index.
        errors.append(FieldError(path, "Invalid value", "", "must specify one of: `configMapRef` or `secretRef`"))
    elif count > 1:
        errors.append(FieldError(path, "Invalid value", "", _SEVERAL))
    return errors
