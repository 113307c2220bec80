"""Changes of an object, by the paths of its fields. They say nothing about text."""

from dataclasses import dataclass
from typing import TypeAlias

Plain: TypeAlias = "bool | int | str | list[Plain] | dict[str, Plain] | None"
"""A value as JSON holds it."""


@dataclass(frozen=True, slots=True)
class Set:
    """Gives a field a value; a field that is missing is added as the last one of its mapping."""

    path: str
    """Such as ``spec.containers[0].livenessProbe.timeoutSeconds``. Its parent has to be in the text."""
    value: Plain


@dataclass(frozen=True, slots=True)
class Remove:
    """Removes a field."""

    path: str


@dataclass(frozen=True, slots=True)
class Replace:
    """Puts a field of another name in a field's place."""

    path: str
    name: str
    """The new field's name."""
    value: Plain


Change: TypeAlias = Set | Remove | Replace


@dataclass(frozen=True, slots=True)
class Fix:
    """The mend for a hit. ``--fix`` carries it out if it ``is_safe``: the pod does what it did before, without the
    finding. Otherwise the text is advice."""

    text: str
    """One sentence: what to change."""
    changes: tuple[Change, ...] = ()
    """Empty for advice that no program can carry out."""
    is_safe: bool = False
    left: str = ""
    """Why ``--fix`` leaves the changes to a person; empty if it does not, and for advice."""
