"""Every setting with its value, its default and its origin: ``probelet config show --all``."""

from collections.abc import Iterator
from typing import Any

import msgspec

from probelet.config import kubelet, opt_in
from probelet.config.document import Setting, Source
from probelet.config.gate import GATES, SPECIAL_GATES, Gates
from probelet.config.kubelet import KubeletConfiguration, Section, set_kubelet_defaults
from probelet.config.load import FLAG, Config
from probelet.config.opt_in import ProbeletConfiguration
from probelet.config.written import written


def settings(config: Config) -> list[Setting]:
    """The gates by name, then the fields of both documents in the order of their declaration."""
    found = [_gate(config, name) for name in sorted(GATES)]
    documents: tuple[tuple[str, Section, Section], ...] = (
        (kubelet.KIND, config.kubelet, set_kubelet_defaults(KubeletConfiguration())),
        (opt_in.KIND, config.probelet, ProbeletConfiguration()),
    )
    for kind, section, usual in documents:
        for field, value, default in _leaves(section, usual):
            found.append(_setting(config, kind, field, value, default, config.origins.get(field, "")))
    return found


def _leaves(section: Section, usual: Section, within: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Path, value and default of each field. A section that is unset is one field, and its parts are none."""
    values, defaults = written(section), written(usual)
    for field in msgspec.structs.fields(section):
        name, part = field.encode_name, getattr(section, field.name)
        if isinstance(part, Section):
            yield from _leaves(part, getattr(usual, field.name) or type(part)(), f"{within}{name}.")
        elif name not in ("apiVersion", "kind", "featureGates"):
            yield f"{within}{name}", values.get(name), defaults.get(name)


def _gate(config: Config, name: str) -> Setting:
    value, default, field = config.gates[name], Gates(config.gates.version)[name], f"featureGates[{name}]"
    origin = config.origins.get(field, "")
    if value != default and not origin:
        spec = GATES[name].at(config.gates.version)
        (special,) = (each for each, stage in SPECIAL_GATES.items() if spec is not None and spec.stage == stage)
        origin = config.origins[f"featureGates[{special}]"]
    return _setting(config, kubelet.KIND, field, value, default, origin)


def _setting(config: Config, document: str, field: str, value: Any, default: Any, origin: str) -> Setting:
    return {
        "document": document,
        "field": field,
        "value": value,
        "default": default,
        "source": _source(config, origin),
        "origin": origin,
    }


def _source(config: Config, origin: str) -> Source:
    if origin in ("", FLAG):
        return "flag" if origin else "default"
    return "file" if origin.rpartition(":")[0] == str(config.path) else "drop-in"
