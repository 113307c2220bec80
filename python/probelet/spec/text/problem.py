"""Mistakes in an input: one line each, with the place, the value and the allowed values."""

from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from probelet.base.printable import printable
from probelet.spec.text.golang import go_quote

Severity: TypeAlias = Literal["error", "warning"]

# The kinds of apimachinery's field.Error that probelet uses, in its spelling.
Kind: TypeAlias = Literal[
    "Duplicate value",
    "Forbidden",
    "Invalid value",
    "Not found",
    "Required value",
    "Too long",
    "Too many",
    "Unsupported value",
]

# The text of these kinds does not repeat the value (apimachinery ``field.Error.ErrorBody``, 1.36).
KINDS_WITHOUT_VALUE = frozenset({"Forbidden", "Required value", "Too long"})

# A message quotes this many characters of a value.
VALUE_LENGTH_MAX = 120


def go_value(value: Any) -> str:
    """Renders a value as ``field.Error`` does: texts in quotes, numbers and booleans bare, None as ``null``."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return go_quote(value)
        case int() | float():
            return str(value)
        case _:
            return msgspec.json.encode(value).decode()


def shorten(text: str) -> str:
    """Cuts a long value, so that the message stays one line of a terminal."""
    return text if len(text) <= VALUE_LENGTH_MAX else f"{text[:VALUE_LENGTH_MAX]}..."


class FieldError(msgspec.Struct, frozen=True):
    """A mistake in an object, in the API server's words (apimachinery ``field.Error``, 1.36)."""

    path: str
    """Field path from the object's root, such as ``spec.containers[0].livenessProbe.periodSeconds``."""
    kind: Kind
    value: Any = None
    detail: str = ""

    @property
    def body(self) -> str:
        """The text without the path: ``<kind>[: <value>][: <detail>]``."""
        parts = [str(self.kind)]
        if self.kind not in KINDS_WITHOUT_VALUE:
            parts.append(go_value(self.value))
        if self.detail:
            parts.append(self.detail)
        return ": ".join(parts)

    def shortened(self) -> "FieldError":
        """A copy whose value, if it is a long text, is cut."""
        if not isinstance(self.value, str):
            return self
        return msgspec.structs.replace(self, value=shorten(self.value))

    def __str__(self) -> str:
        return f"{self.path}: {self.body}"


class ObjectName(msgspec.Struct, frozen=True):
    """The name of an object in a manifest, in the object's own words: ``namespace`` and ``name`` may be empty."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


class Problem(msgspec.Struct, frozen=True):
    """One line for a person: the place, the object, the field, the mistake and the allowed values."""

    severity: Severity
    message: str
    """The mistake with its value and the allowed values, without path and field."""
    path: Path | None = None
    """The file as the user named it; ``None`` for an input that is no file, such as a flag."""
    line: int = 0
    """Line in the file, from 1; 0 if there is none."""
    field: str = ""
    """Field path; empty for the whole document."""
    object: ObjectName | None = None
    """The object with the mistake; ``None`` for a file, or for a document of which probelet reads nothing."""

    @property
    def place(self) -> str:
        """``web.yaml:12``, ``web.yaml``, or an empty text."""
        if self.path is None:
            return ""
        return f"{self.path}:{self.line}" if self.line else str(self.path)

    @property
    def owner(self) -> str:
        """The object with the mistake, such as ``Deployment web``; empty for a Pod, whose fields need no owner."""
        return "" if self.object is None or self.object.kind == "Pod" else shorten(str(self.object))

    @property
    def line_of_log(self) -> str:
        """The line for a log, which names the severity itself."""
        return str(msgspec.structs.replace(self, severity="error"))

    def __str__(self) -> str:
        mark = "warning" if self.severity == "warning" else ""
        parts = (self.place, mark, self.owner, shorten(self.field), self.message)
        # Keys and file names may contain line breaks and terminal commands.
        return printable(": ".join(part for part in parts if part))
