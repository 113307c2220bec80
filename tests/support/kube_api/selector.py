"""Label and field selectors."""

import re
from collections.abc import Callable
from typing import Any

from tests.support.kube_api.refusal import RefusalError

Object = dict[str, Any]
Matches = Callable[[Object], bool]

_SET = re.compile(r"(?P<key>\S+)\s+(?P<how>in|notin)\s+\((?P<values>[^)]*)\)")
_PART = re.compile(r",(?![^(]*\))")

# The fields by which a kind can be selected, as the API server has them.
_FIELDS = {
    "pods": {"spec.nodeName", "status.phase", "spec.restartPolicy"},
    "events": {"involvedObject.name", "involvedObject.uid", "involvedObject.kind", "reason", "type"},
    "secrets": {"type"},
}


def labels(text: str) -> Matches:
    """``a=b,c!=d,e,!f,g in (h, i)``."""
    tests = [_label(part.strip()) for part in _PART.split(text) if part.strip()]
    return lambda found: all(test(found["metadata"].get("labels") or {}) for test in tests)


def fields(plural: str, text: str) -> Matches:
    """``spec.nodeName=a,metadata.name!=b``."""
    tests = [_field(plural, part.strip()) for part in text.split(",") if part.strip()]
    return lambda found: all(test(found) for test in tests)


def _label(part: str) -> Callable[[dict[str, str]], bool]:
    if match := _SET.fullmatch(part):
        key, values = match["key"], {value.strip() for value in match["values"].split(",")}
        wanted = match["how"] == "in"
        return lambda have: (have.get(key) in values) == wanted
    key, unequal, value = part.partition("!=")
    if unequal:
        return lambda have: have.get(key) != value
    key, equal, value = part.partition("=")
    if equal:
        return lambda have: have.get(key) == value.removeprefix("=")
    if part.startswith("!"):
        return lambda have: part[1:] not in have
    return lambda have: part in have


def _field(plural: str, part: str) -> Matches:
    path, unequal, value = part.partition("!=")
    if not unequal:
        path, _, value = part.partition("=")
        value = value.removeprefix("=")
    if path not in _FIELDS.get(plural, set()) | {"metadata.name", "metadata.namespace"}:
        raise RefusalError(400, f"field label not supported: {path}")
    return lambda found: (_value(found, path) == value) != bool(unequal)


def _value(found: Object, path: str) -> str:
    here: Any = found
    for part in path.split("."):
        here = here.get(part) if isinstance(here, dict) else None
    return here or ""
