"""A container's resources: requests and limits (core/v1 ResourceRequirements, 1.36)."""

from collections.abc import Iterator
from typing import Any

import msgspec

from probelet.spec.model.meta import Object, Opaque
from probelet.spec.text.problem import FieldError
from probelet.spec.text.quantity import parse_quantity


class ResourceRequirements(Object, frozen=True, kw_only=True):
    """Quantities by resource name, as written; probelet reads ``cpu`` and ``memory``."""

    limits: dict[str, Any] = msgspec.field(default_factory=dict)
    requests: dict[str, Any] = msgspec.field(default_factory=dict)
    claims: Opaque = None


def validate_resources(resources: ResourceRequirements, path: str) -> list[FieldError]:
    """Reports unreadable and negative quantities, and requests above their limit (``ValidateResourceRequirements``)."""
    errors = []
    for name, amounts in (("limits", resources.limits), ("requests", resources.requests)):
        errors += list(_amounts(amounts, f"{path}.{name}"))
    if errors:
        return errors
    for name in sorted(resources.requests.keys() & resources.limits.keys()):
        asked, limit = resources.requests[name], resources.limits[name]
        if parse_quantity(asked) > parse_quantity(limit):
            detail = f"must be less than or equal to {name} limit of {limit}"
            errors.append(FieldError(f"{path}.requests", "Invalid value", str(asked), detail))
    return errors


def _amounts(amounts: dict[str, Any], path: str) -> Iterator[FieldError]:
    for name, amount in amounts.items():
        try:
            negative = parse_quantity(amount) < 0
        except ValueError as error:
            yield FieldError(f"{path}[{name}]", "Invalid value", amount, str(error))
            continue
        if negative:
            yield FieldError(f"{path}[{name}]", "Invalid value", str(amount), "must be greater than or equal to 0")
