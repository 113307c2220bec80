"""docs/reference/documents.md."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from msgspec import inspect as types
from probelet.cli.backoff.document import ClaimsDocument, ComparisonDocument, LoadDocument, TableDocument
from probelet.cli.explain.document import ExplainDocument
from probelet.cli.lint.document import LintDocument
from probelet.cli.probe.document import AttemptDocument
from probelet.cli.simulate.scenarios import ScenariosDocument
from probelet.cli.version import VersionDocument
from probelet.config.document import ConfigDocument
from probelet.config.schema.field_text import field_texts, one_line_of
from probelet.daemon.cluster.coverage import ClusterDocument
from probelet.lab.bench.document import BenchDocument
from probelet.lab.picture.document import SimulateDocument
from probelet.lab.stress.report import Document as StressDocument
from probelet.lab.whatif.document import WhatifDocument
from probelet.lint.baseline import BaselineDocument
from probelet.server.document.event import CommandDocument, EventDocument, PauseDocument
from probelet.server.document.incident import IncidentChange, IncidentsDocument
from probelet.server.document.nodes import NodesDocument
from probelet.server.document.status import StatusDocument
from probelet.server.document.top import TopDocument
from probelet_conformance.conformance import Report
from probelet_conformance.document import SkippedDocument, TraceDocument

from tools.reference.markdown import code, prose, table

HEAD = """
# JSON documents

For authors of scripts: every JSON document that probelet prints, key by key. The key `schema` names the form of a
document. A later version of probelet may add keys to a form, so readers should pass over keys that they do not know; a
key that changes its meaning or disappears gives the form a new number. Lines of the log (`--log-format json`) are no
documents: each has `level`, `at` and `message`, and what belongs to the message.

In the first column `[]` stands for each element of a list and `.NAME` for each key of a mapping from names. Times are
RFC 3339 in UTC with milliseconds.
"""


@dataclass(frozen=True)
class Kind:
    """A document: its type, and where it comes from. ``schemas`` is empty for one without that key."""

    schemas: tuple[str, ...]
    cls: type[Any]
    source: str
    title: str = ""
    """The heading of a document without that key."""


KINDS = (
    Kind(
        ("probelet-status/1",),
        StatusDocument,
        "`probelet status -o json`, and the page `/statusz` for readers other than browsers",
    ),
    Kind(("probelet-top/1",), TopDocument, "`probelet top -o json`"),
    Kind(("probelet-event/1",), EventDocument, "`probelet events -o json`, one a line"),
    Kind(("probelet-incidents/1",), IncidentsDocument, "`probelet incidents -o json`, and the page `/incidents`"),
    Kind(("probelet-incident/1",), IncidentChange, "`probelet incidents --follow -o json`, one a line"),
    Kind(
        ("probelet-retry/1", "probelet-reset/1"), CommandDocument, "`probelet retry -o json`, `probelet reset -o json`"
    ),
    Kind(("probelet-pause/1",), PauseDocument, "`probelet pause -o json`"),
    Kind(("probelet-nodes/1",), NodesDocument, "the page `/statusz` of a controller"),
    Kind(("probelet-cluster/1",), ClusterDocument, "`probelet status --cluster -o json`"),
    Kind(("probelet-config/1",), ConfigDocument, "`probelet config show -o json`, and the page `/configz`"),
    Kind(("probelet-probe/1",), AttemptDocument, "`probelet probe -o json`"),
    Kind(("probelet-explain/1",), ExplainDocument, "`probelet explain -o json`"),
    Kind(("probelet-lint/1",), LintDocument, "`probelet lint -o json`"),
    Kind(("probelet-lint-baseline/1",), BaselineDocument, "`probelet lint --write-baseline`"),
    Kind(("probelet-simulate/1",), SimulateDocument, "`probelet simulate -o json`"),
    Kind(("probelet-whatif/1",), WhatifDocument, "`probelet whatif -o json`"),
    Kind(("probelet-scenarios/1",), ScenariosDocument, "`probelet simulate --list -o json`"),
    Kind(("probelet-backoff/1",), TableDocument, "`probelet backoff table -o json`"),
    Kind(("probelet-backoff-compare/1",), ComparisonDocument, "`probelet backoff compare -o json`"),
    Kind(("probelet-backoff-load/1",), LoadDocument, "`probelet backoff load -o json`"),
    Kind(("probelet-kep4603/1",), ClaimsDocument, "`probelet backoff kep4603 -o json`"),
    Kind(("probelet-stress/1",), StressDocument, "`probelet stress -o json`, and `stress.json` of `--report`"),
    Kind(("probelet-bench/1",), BenchDocument, "`probelet bench -o json`"),
    Kind(("probelet-conformance/1",), Report, "`probelet conformance -o json`"),
    Kind((), TraceDocument, "`probelet replay -o json`, one a line for each recording", "the trace of a replay"),
    Kind((), SkippedDocument, "`probelet replay -o json`, for a recording that needs sockets", "a skipped recording"),
    Kind(("probelet-version/1",), VersionDocument, "`probelet version -o json`"),
)

INTERNAL = {
    "probelet-intent/1": "a kill under way, in the agent's state directory",
    "probelet-request/1": "the kills for a request to recreate containers, in the agent's state directory",
    "probelet-logs/1": "from a service to `probelet logs`",
    "probelet-pauses/1": "the pauses of a pod, in the agent's state directory",
    "probelet-pod/1": "a pod as the agent first saw it, in its state directory",
}
"""Forms that no verb prints."""


def documents_page() -> str:
    lines = [*prose(HEAD), ""]
    lines += table(["document", "printed by"], ([f"[{_name(kind)}](#{_anchor(kind)})", kind.source] for kind in KINDS))
    for kind in KINDS:
        rows = [[code(key), _text(info), about] for key, info, about in _keys(kind)]
        lines += ["", f"## {_name(kind)}", "", *prose(_about(kind.cls)), "", *table(["key", "value", "meaning"], rows)]
    return "\n".join(lines)


def _name(kind: Kind) -> str:
    return " and ".join(kind.schemas) or kind.title


def _anchor(kind: Kind) -> str:
    return _name(kind).replace("/", "").replace(" ", "-")


def _about(cls: type[Any]) -> str:
    return one_line_of(cls.__doc__ or "")


def _keys(kind: Kind) -> Iterator[tuple[str, types.Type, str]]:
    for key, info, about in _members(types.type_info(kind.cls), ""):
        yield key, info, "The form of the document." if key == "schema" else re.sub(r"\bNone\b", "null", about)


def _members(info: types.Type, within: str) -> Iterator[tuple[str, types.Type, str]]:
    """Path, type and meaning of each key of an object, and of the objects in it."""
    match info:
        case types.StructType() | types.TypedDictType() | types.DataclassType():
            texts, order = field_texts(info.cls), list(info.cls.__annotations__)
            for field in sorted(info.fields, key=lambda field: order.index(field.name)):
                key = f"{within}.{field.encode_name}" if within else field.encode_name
                is_optional = isinstance(info, types.TypedDictType) and not field.required
                about = texts.get(field.name, "")
                yield key, field.type, f"May be absent. {about}" if is_optional else about
                yield from _members(field.type, key)
        case types.ListType():
            yield from _members(info.item_type, f"{within}[]")
        case types.DictType():
            yield from _members(info.value_type, f"{within}.NAME")
        case types.UnionType():
            for option in info.types:
                yield from _members(option, within)


def _text(info: types.Type) -> str:
    match info:
        case types.UnionType():
            return " or ".join(map(_text, info.types))
        case types.ListType():
            return f"list of {_text(info.item_type)}"
        case types.TupleType():
            return f"list of {len(info.item_types)}: {', '.join(map(_text, info.item_types))}"
        case types.DictType():
            return f"mapping from names to {_text(info.value_type)}"
        case types.LiteralType():
            return " or ".join(map(code, info.values))
        case types.StructType() | types.TypedDictType() | types.DataclassType():
            return "object"
        case _:
            return _WORDS[type(info)]


_WORDS = {
    types.AnyType: "anything",
    types.BoolType: "`true` or `false`",
    types.FloatType: "number",
    types.IntType: "integer",
    types.NoneType: "null",
    types.StrType: "text",
}
