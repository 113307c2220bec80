"""Checks probes with the API server's words before they leave the pod's spec: afterwards nobody else would (W-5)."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from probelet.beside.guard.context.codec import ContextError, Entry, decode
from probelet.beside.guard.names import CONTEXT
from probelet.spec.model.meta import Object
from probelet.spec.model.probe import Probe
from probelet.spec.read.decode import decode_node
from probelet.spec.read.tree import TreeError, documents
from probelet.spec.rules.defaults import set_probe_defaults
from probelet.spec.rules.validate_probe import validate_probe
from probelet.spec.text.problem import FieldError, Problem, go_value

_HOST_DETAIL: Final = "an enhanced liveness probe goes to its own pod; set a Host header instead"


class _Written(Object, frozen=True, kw_only=True):
    """A place for what is checked, so that mistakes have a path."""

    entries: list[Entry] = msgspec.field(default_factory=list)
    probe: Probe = msgspec.field(default_factory=Probe)


def check_values(probe: Probe, path: str, *, hosts: bool = False) -> list[str]:
    """The mistakes in a probe's values, one line each. Defaults count as written. ``hosts``: a probe may name one."""
    defaulted = set_probe_defaults(probe)
    assert defaulted is not None
    errors = validate_probe(defaulted, "liveness", path)
    for name, action in (("httpGet", probe.http_get), ("tcpSocket", probe.tcp_socket)):
        if action is not None and action.host and not hosts:
            errors.append(FieldError(f"{path}.{name}.host", "Forbidden", detail=_HOST_DETAIL))
    return [str(error.shortened()) for error in errors]


class Native:
    """A probe of a pod's spec: ``probe``, its ``mistakes``, and the fields that this release does not know."""

    def __init__(self, raw: Any, path: str, *, validate: bool = True) -> None:
        text = msgspec.json.encode(raw).decode()
        problems = _problems("probe", text, path)
        self.mistakes = [_line(each) for each in problems if each.severity == "error"]
        self.unknown = [each.field for each in problems if each.severity == "warning"]
        self.probe = Probe()
        try:
            self.probe = msgspec.json.decode(text, type=Probe)
        except msgspec.ValidationError as error:
            self.mistakes = self.mistakes or [f"{path}: {error}"]
        if validate and not self.mistakes:
            self.mistakes = check_values(self.probe, path)


def check_context(text: str, containers: Iterable[str], *, validate: bool = True) -> tuple[Sequence[Entry], list[str]]:
    """The entries of an annotation and its mistakes, one line each. ``containers``: the names that it may use."""
    path = f"metadata.annotations[{CONTEXT}]"
    problems = _problems("entries", text, path) if _is_json(text) else []
    try:
        entries = decode(text)
    except ContextError as error:
        return [], [_line(each) for each in problems if each.severity == "error"] or [f"{path}: {error}"]
    mistakes = [_line(each).replace(", ignored", "") for each in problems]
    known, seen = set(containers), set[str]()
    for index, entry in enumerate(entries):
        place = f"{path}[{index}]"
        if entry.name not in known:
            mistakes.append(str(FieldError(f"{place}.name", "Not found", entry.name)))
        if entry.name in seen:
            mistakes.append(str(FieldError(f"{place}.name", "Duplicate value", entry.name)))
        seen.add(entry.name)
        if validate:
            mistakes += check_values(entry.liveness_probe, f"{place}.livenessProbe")
    return entries, mistakes


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True


def _problems(field: str, text: str, path: str) -> list[Problem]:
    """The mistakes of a JSON text, with fields below ``path``. The values themselves are read as JSON: this decoder
    reads YAML, which folds some line breaks inside texts."""
    problems: list[Problem] = []
    try:
        document = next(documents(f"{{{go_value(field)}:{text}}}"))
    except TreeError as error:
        return [Problem("error", str(error), field=path)]
    decode_node(document.root, _Written, None, problems)
    return [msgspec.structs.replace(each, field=path + each.field.removeprefix(field), line=0) for each in problems]


def _line(problem: Problem) -> str:
    return str(msgspec.structs.replace(problem, severity="error"))
