"""Pods and probes as JSON: the form in which a node agent sends them and the engine reads them."""

from typing import Any, Final, TypeVar

import msgspec

from probelet.errors import ProbeletError
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import Probe
from probelet.spec.read.decode import decode
from probelet.spec.read.tree import DEPTH_MAX, TreeError, documents
from probelet.spec.text.problem import Problem

EXPLAINED_BYTES_MAX: Final = 64 * 1024
"""The largest object whose every mistake is named: the decoder that can takes a second for each MiB, and a caller
waits meanwhile. Of a larger object the first mistake is named."""


T = TypeVar("T", Pod, Probe)


class SpecError(ProbeletError, ValueError):
    """An unusable object. ``problems`` holds every mistake; the exception's text has one line for each."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def decode_pod(data: bytes) -> Pod:
    """Decodes a v1.Pod from JSON without defaulting or validation; ignores unknown fields and reads null as unset.

    Raises ``SpecError`` with one problem per field of a wrong type; for an object above ``EXPLAINED_BYTES_MAX`` with
    the first.
    """
    try:
        return msgspec.json.decode(data, type=Pod)
    except msgspec.ValidationError:
        # Either a null that Go's decoder accepts, or a mistake.
        pass
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SpecError([Problem("error", f"not JSON: {error}")]) from None
    except RecursionError:
        raise SpecError([Problem("error", f"nested deeper than {DEPTH_MAX} levels")]) from None
    return _explained(data) if len(data) <= EXPLAINED_BYTES_MAX else _without_nulls(data)


def convert_probe(value: Any) -> Probe:
    """Builds a v1.Probe from plain JSON data as ``decode_pod`` does. Raises SpecError with the first mistake."""
    try:
        return msgspec.convert(value, Probe)
    except msgspec.ValidationError:
        # Either a null that Go's decoder accepts, or a mistake.
        return _converted(value, Probe)


def _explained(data: bytes) -> Pod:
    """Decodes with the tree decoder, which accepts each null and names every mistake."""
    problems: list[Problem] = []
    try:
        pods = [decode(document, Pod, None, problems) for document in documents(data.decode())]
    except (TreeError, UnicodeDecodeError) as error:
        raise SpecError([Problem("error", str(error))]) from None
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors or not pods:
        raise SpecError(errors or [Problem("error", "Invalid value: null: must be a v1.Pod")])
    return pods[0]


def _without_nulls(data: bytes) -> Pod:
    """Decodes without the members that are null."""
    try:
        return _converted(msgspec.json.decode(data), Pod)
    except RecursionError:
        raise SpecError([Problem("error", f"nested deeper than {DEPTH_MAX} levels")]) from None


def _converted(value: Any, cls: type[T]) -> T:
    try:
        return msgspec.convert(_stripped(value), cls)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        raise SpecError([Problem("error", message, field=place.rstrip("`").lstrip("."))]) from None
    except RecursionError:
        raise SpecError([Problem("error", f"nested deeper than {DEPTH_MAX} levels")]) from None


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _stripped(member) for key, member in value.items() if member is not None}
    return [_stripped(item) for item in value] if isinstance(value, list) else value


def encode_pod(pod: Pod) -> bytes:
    """Encodes as v1.Pod JSON: camelCase, without empty fields. The Rust engine parses exactly this."""
    return msgspec.json.encode(pod)


def encode_probe(probe: Probe) -> bytes:
    """Encodes as v1.Probe JSON, which ``attempt`` parses."""
    return msgspec.json.encode(probe)
