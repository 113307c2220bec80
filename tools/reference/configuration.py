"""docs/reference/configuration.md."""

from collections.abc import Iterator
from typing import Any

from msgspec import inspect as types
from probelet._rust import version
from probelet.config import kubelet, opt_in
from probelet.config.inert.unavailable import DETAIL, UNAVAILABLE_FIELDS
from probelet.config.inert.unread_field import UNREAD_FIELDS
from probelet.config.kubelet import KubeletConfiguration, Section, set_kubelet_defaults
from probelet.config.opt_in import ProbeletConfiguration
from probelet.config.reach import EVERYWHERE, EXECS
from probelet.config.schema.field_text import field_texts
from probelet.config.written import written
from probelet.spec.read.decode import is_duration

from tools.reference.markdown import block, code, prose
from tools.reference.place import ROOT
from tools.reference.since import Since, released

HEAD = """
# Configuration

For operators: every field of the configuration file, with its default, its range and its effect. Feature gates are on
[a page of their own](feature-gates.md).

`run` and `serve` read a file (`--config FILE`) of up to two documents, then the drop-ins of a folder
(`--config-dir DIR`: every `*.conf`, in the order of their names, merged field by field; a null takes a field back),
then the flags. A later one wins. `deploy/config.yaml` is a sample with every field. A mistake is one line with file,
line, field and what is allowed, and exit code 2. A change takes effect with the next start.

`probelet config show --all` prints every field with its value, its default and what sets it:
"""

SCHEMA = """
`probelet config schema` prints a JSON schema (draft 2020-12) of a document, with which an editor completes and checks
fields while you type. For editors with yaml-language-server, such as VS Code, Neovim and Emacs, write it into a file
and name the file in the first line of the configuration:
"""

LIMITS = """
The schema has no rule about two fields together, and of a duration it knows only the form and the sign:
`probelet config show` checks everything. `--kubelet-version` of `config schema` chooses the release whose feature gates
may be set.
"""


def configuration_page(before: str) -> str:
    """``before`` is the page as it was."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    since = Since(before, changelog)
    unreleased = "" if released(changelog) else f" {version()} is the first one; it is not released yet."
    lines = [
        *prose(HEAD),
        "",
        *block("console", ["$ probelet config show --all --config deploy/config.yaml", *SHOWN]),
        "",
        *prose(SCHEMA),
        "",
        *block("console", [f"$ probelet config schema > {FILE}"], not_run="it writes a file"),
        "",
        *block("yaml", [f"# yaml-language-server: $schema={FILE}", *_kind(opt_in), "schedule: spread"]),
        "",
        *prose(LIMITS),
        "",
        f"*Since* is the version of probelet that brought the field.{unreleased}",
        "",
        f"## {opt_in.KIND}",
        "",
        "The opt-ins of probelet. With none of them probelet does what a kubelet does.",
        "",
        *block("yaml", _kind(opt_in)),
        *_fields(ProbeletConfiguration(), since),
        "",
        f"## {kubelet.KIND}",
        "",
        "The kubelet's own document: of a node's file probelet reads these fields.",
        "",
        *block("yaml", _kind(kubelet)),
        *_fields(set_kubelet_defaults(KubeletConfiguration()), since),
        "",
        "### Other fields of a kubelet",
        "",
        *prose(
            "probelet accepts them without effect and without a warning, so that a node's file may stand as it is: "
            f"{', '.join(map(code, sorted(UNREAD_FIELDS)))}."
        ),
    ]
    return "\n".join(lines)


FILE = "probelet-config.schema.json"
SHOWN = ["SETTING   VALUE    DEFAULT  FROM", "...", "schedule  kubelet  kubelet  default", "..."]


def _kind(document: Any) -> list[str]:
    return [f"apiVersion: {document.API_VERSION}", f"kind: {document.KIND}"]


def _fields(section: Section, since: Since, within: str = "") -> Iterator[str]:
    defaults, texts = written(section), field_texts(type(section))
    for field in types.type_info(type(section)).fields:  # type: ignore[attr-defined]
        name = f"{within}{field.encode_name}"
        if name in ("apiVersion", "kind"):
            continue
        part = _section_of(field.type)
        default = defaults.get(field.encode_name)
        facts = [range_of(field.type), *([] if part and default is not None else [f"default {_default(default)}"])]
        if isinstance(section, ProbeletConfiguration):
            facts.append(_reach(name))
        yield from ("", f"### {code(name)}", "", f"{'; '.join(facts)}; since {since.of(name)}.", "")
        unavailable = f" Values other than the default are {DETAIL}." if name in UNAVAILABLE_FIELDS else ""
        yield from prose(texts[field.name] + unavailable)
        if part:
            yield from _fields(part(), since, f"{name}.")


def _section_of(info: types.Type) -> type[Section] | None:
    if isinstance(info, types.UnionType):
        return next((found for option in info.types if (found := _section_of(option))), None)
    return info.cls if isinstance(info, types.StructType) and issubclass(info.cls, Section) else None


def _default(value: Any) -> str:
    if value in (None, "", {}):
        return "unset"
    return code(str(value).lower() if isinstance(value, bool) else value)


def _reach(name: str) -> str:
    if name in EVERYWHERE:
        return "in `run` and `serve`"
    return "in `run` and, with `--runtime`, in `serve`" if name in EXECS else "in `run`"


def range_of(info: types.Type) -> str:
    """The values that a field takes."""
    match info:
        case types.Metadata(extra={"range": allowed}):
            return f"duration, {allowed}" if is_duration(info) else str(allowed)
        case types.Metadata():
            return f"{range_of(info.type)}{_bounds(info.extra_json_schema or {})}"
        case types.UnionType():
            (option,) = (option for option in info.types if not isinstance(option, types.NoneType))
            return range_of(option)
        case types.LiteralType():
            return " or ".join(code(value) for value in info.values)
        case types.DictType():
            return f"mapping of a name to {range_of(info.value_type)}"
        case types.StructType():
            return "mapping"
        case types.BoolType():
            return "`true` or `false`"
        case types.IntType():
            return "integer"
        case types.FloatType():
            return "number"
        case types.StrType():
            return "text"
        case _:
            raise AssertionError(info)


def _bounds(schema: dict[str, Any]) -> str:
    match schema:
        case {"minimum": least, "maximum": most}:
            return f", {least} to {most}"
        case {"minimum": least}:
            return f", at least {least}"
        case {"exclusiveMinimum": bound}:
            return f", above {bound}"
        case _:
            raise AssertionError(schema)
