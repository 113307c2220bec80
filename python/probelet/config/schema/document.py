"""The JSON schema (draft 2020-12) of one document of a configuration file: ``probelet config schema``.

It accepts every document that ``load_config`` accepts without a warning. Rules between fields, and ranges of
durations beside their sign, are no part of it.
"""

from typing import Any

from msgspec import inspect as types

from probelet.config import kubelet, opt_in
from probelet.config.alias import GATE_ALIASES
from probelet.config.gate import GATES, SPECIAL_GATES, refusal
from probelet.config.inert.gate import INERT_GATES
from probelet.config.inert.unavailable import DETAIL, UNAVAILABLE_FIELDS, UNAVAILABLE_GATES
from probelet.config.inert.unread_field import UNREAD_FIELDS
from probelet.config.kubelet import KubeletConfiguration, Section, set_kubelet_defaults
from probelet.config.opt_in import ProbeletConfiguration
from probelet.config.schema.field_text import field_texts, one_line_of
from probelet.config.written import written
from probelet.spec.read.decode import file_defaults, file_fields

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"

UNREAD = "The kubelet reads this field. probelet accepts it, without effect."
INERT = "The kubelet has this gate. probelet accepts it, without effect."


def config_schema(version: str) -> Schema:
    """The schema, with the feature gates of a Kubernetes release."""
    documents = {
        kubelet.KIND: _kubelet_document(version),
        opt_in.KIND: _document(ProbeletConfiguration(), opt_in.API_VERSION, opt_in.KIND),
    }
    for alias, name in opt_in.ALIASES.items():
        properties = documents[opt_in.KIND]["properties"]
        properties[alias] = {**properties[name], "deprecated": True, "description": f"The old name of `{name}`."}
    return {
        "$schema": DRAFT,
        "title": "A document of probelet's configuration file",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": {"kind": {"enum": list(documents)}},
        "allOf": [
            {"if": {"properties": {"kind": {"const": kind}}}, "then": {"$ref": f"#/$defs/{kind}"}} for kind in documents
        ],
        "$defs": documents,
    }


def _kubelet_document(version: str) -> Schema:
    effective = set_kubelet_defaults(KubeletConfiguration())
    found = _document(effective, kubelet.API_VERSION, kubelet.KIND)
    properties = found["properties"]
    properties["featureGates"] |= {"properties": _gates(version), "additionalProperties": False}
    properties |= {name: {"description": UNREAD} for name in sorted(UNREAD_FIELDS)}
    return found


def _document(section: Section, api_version: str, kind: str) -> Schema:
    """``section`` has the effective defaults."""
    found = section_schema(section)
    found["properties"] |= {"apiVersion": {"const": api_version}, "kind": {"const": kind}}
    return found


def section_schema(section: Section) -> Schema:
    """The schema of one section; its values are the defaults."""
    defaults, texts = written(section), field_texts(type(section))
    properties: Schema = {}
    for field in file_fields(type(section)):
        found = _nullable(_value(field.type))
        if field.name in texts:
            found["description"] = texts[field.name]
        default = defaults.get(field.encode_name)
        if default is not None and not isinstance(default, dict):
            found["default"] = default
        if field.encode_name in UNAVAILABLE_FIELDS:
            found = {"enum": [default, None], "description": f"{found['description']} Other values: {DETAIL}."}
        properties[field.encode_name] = found
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _value(info: types.Type) -> Schema:
    match info:
        case types.Metadata():
            return _value(info.type) | (info.extra_json_schema or {})
        case types.UnionType():
            options = [option for option in info.types if not isinstance(option, types.NoneType)]
            return _value(options[0]) if len(options) == 1 else {"oneOf": [_value(option) for option in options]}
        case types.StructType():
            assert issubclass(info.cls, Section), "a document has sections only"
            return _struct(info.cls(**file_defaults(info.cls)), info)
        case types.ListType():
            return {"type": "array", "items": _value(info.item_type)}
        case types.LiteralType():
            return {"enum": list(info.values)}
        case types.DictType():
            return {"type": "object", "additionalProperties": _value(info.value_type)}
        case types.IntType():
            bounds = {"minimum": info.ge, "maximum": info.le}
            return {"type": "integer", **{name: bound for name, bound in bounds.items() if bound is not None}}
        case types.FloatType():
            return {"type": "number"}
        case types.BoolType():
            return {"type": "boolean"}
        case types.StrType():
            return {"type": "string"}
        case _:
            raise AssertionError(info)


def _struct(section: Section, info: types.StructType) -> Schema:
    """A section inside a document: one of a union has its tag, and one with a ``scalar_field`` may be its value."""
    found = section_schema(section)
    if info.tag_field is not None:
        tag = {"const": info.tag, "description": one_line_of(type(section).__doc__ or "")}
        found = {**found, "properties": {info.tag_field: tag, **found["properties"]}, "required": [info.tag_field]}
    scalar = getattr(section, "scalar_field", None)
    return found if scalar is None else {"anyOf": [found["properties"][scalar], found]}


def _nullable(schema: Schema) -> Schema:
    """A null leaves a field at its default, and in a drop-in takes back what an earlier file sets."""
    if "anyOf" in schema:
        return schema | {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    if "enum" in schema:
        return schema | {"enum": [*schema["enum"], None]}
    return schema | {"type": [schema["type"], "null"]}


def _gates(version: str) -> Schema:
    found: Schema = {}
    for name, gate in sorted(GATES.items()):
        spec = gate.at(version)
        if spec is not None:
            allowed = [value for value in (True, False) if refusal(name, value, version) is None]
            if name in UNAVAILABLE_GATES:
                allowed = [spec.default]
            found[name] = {"enum": allowed, "default": spec.default, "description": gate.summary}
    for alias, name in GATE_ALIASES.items():
        if name in found:
            found[alias] = {**found[name], "deprecated": True, "description": f"The old name of `{name}`."}
    for name, stage in SPECIAL_GATES.items():
        text = f"Sets every gate of the stage {stage} that has no value of its own."
        found[name] = {"type": "boolean", "default": False, "description": text}
    return found | {name: {"type": "boolean", "description": INERT} for name in sorted(INERT_GATES)}
