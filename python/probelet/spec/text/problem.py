"""What is wrong with an input: one line per mistake, with the place, the value and what is allowed."""

from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from probelet.spec.text.golang import go_quote

Severity: TypeAlias = Literal["error", "warning"]

# The kinds of apimachinery's field.Error that we emit, in its spelling.
Kind: TypeAlias = Literal[
    "Duplicate value",
    "Forbidden",
    "Invalid value",
    "Not found",
    "Required value",
    "Too many",
    "Unsupported value",
]

# Kinds whose text does not repeat the value (apimachinery ``field.Error.ErrorBody``, 1.36).
KINDS_WITHOUT_VALUE = frozenset({"Forbidden", "Required value"})

# A value is quoted up to this length.
VALUE_LENGTH_MAX = 120


def go_value(value: Any) -> str:
    """Render a value as ``field.Error`` does: texts quoted, numbers and booleans bare, nothing as ``null``."""
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
    """The beginning of a long value; a message stays one line that fits a terminal."""
    return text if len(text) <= VALUE_LENGTH_MAX else f"{text[:VALUE_LENGTH_MAX]}..."


def one_line(text: str) -> str:
    """Escape what would break a line or reach the terminal: keys and file names may hold anything."""
    return (
        text if text.isprintable() else "".join(char if char.isprintable() else go_quote(char)[1:-1] for char in text)
    )


class FieldError(msgspec.Struct, frozen=True):
    """A mistake in an object, as the API server would word it (apimachinery ``field.Error``, 1.36)."""

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
        """The same mistake with the beginning of its value, if that is a long text."""
        if not isinstance(self.value, str):
            return self
        return msgspec.structs.replace(self, value=shorten(self.value))

    def __str__(self) -> str:
        return f"{self.path}: {self.body}"


class Problem(msgspec.Struct, frozen=True):
    """One line for a person: where, which field, what is wrong and what is allowed."""

    severity: Severity
    message: str
    """What is wrong; carries the value and what is allowed, never the path or the field."""
    path: Path | None = None
    """The file as it was named by the user; ``None`` for an input without a file, such as a flag."""
    line: int = 0
    """Line in the file, from 1; 0 when no line can be named."""
    field: str = ""
    """Field path, empty when the whole document is meant."""

    @property
    def place(self) -> str:
        """``web.yaml:12``, ``web.yaml``, or nothing."""
        if self.path is None:
            return ""
        return f"{self.path}:{self.line}" if self.line else str(self.path)

    def __str__(self) -> str:
        mark = "warning" if self.severity == "warning" else ""
        return one_line(": ".join(part for part in (self.place, mark, shorten(self.field), self.message) if part))
