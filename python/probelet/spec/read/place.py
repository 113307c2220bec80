"""Where the fields of an object with pods are: in the object, in its document and in its file."""

from pathlib import Path
from typing import Final

import msgspec

from probelet.spec.read.tree import Node, locate
from probelet.spec.text.problem import FieldError, ObjectName, Problem, Severity

# Fields that a pod has from the workload itself and not from its template.
_OF_THE_OBJECT: Final = ("metadata.name", "metadata.namespace", "metadata.generateName")


class Place(msgspec.Struct, frozen=True):
    """Where an object's fields are in the file."""

    path: Path
    root: Node
    prefix: str
    """The path of the object in its document: ``items[0]``, or empty."""
    name: ObjectName
    template: str
    """The path of the pod in the object, or empty."""

    def problem(self, severity: Severity, message: str, field: str) -> Problem:
        """The problem of a field of the object."""
        full = f"{self.prefix}.{field}".removeprefix(".")
        return Problem(severity, message, self.path, locate(self.root, field), full, self.name)

    def located(self, severity: Severity, error: FieldError) -> Problem:
        """The problem of a field of the object."""
        return self.problem(severity, error.shortened().body, error.path)

    def field_of(self, field: str) -> str:
        """The path in the object of a field of its pod."""
        return field if not self.template or field in _OF_THE_OBJECT else f"{self.template}.{field}"

    def in_pod(self, severity: Severity, error: FieldError) -> Problem:
        """The problem of a field of the object's pod."""
        return self.located(severity, msgspec.structs.replace(error, path=self.field_of(error.path)))


def echoes(problem: Problem, mistyped: set[str]) -> bool:
    """True if ``problem`` follows from a field in ``mistyped``: decoding left that field unset and reported it."""
    inside = any(problem.field == field or problem.field.startswith((f"{field}.", f"{field}[")) for field in mistyped)
    around = problem.message.startswith("Required value") and any(
        field.startswith(f"{problem.field}.") for field in mistyped
    )
    return inside or around
