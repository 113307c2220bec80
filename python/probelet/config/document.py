"""The effective configuration as a document: ``probelet config show -o json`` and ``/configz``."""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from probelet.config.crash_loop import CrashLoop, CurveSource
from probelet.config.gate import GATES
from probelet.config.load import Config
from probelet.config.written import written
from probelet.spec.text.duration import SECOND

Source: TypeAlias = Literal["default", "file", "drop-in", "flag"]


class Setting(TypedDict):
    """One field of the configuration, or one feature gate."""

    document: str
    """The kind of the document that has the field: KubeletConfiguration or ProbeletConfiguration."""
    field: str
    """The field's path, such as ``restartBudget.burst`` or ``featureGates[NAME]``."""
    value: Any
    """The value in force; null for a field that is unset."""
    default: Any
    """The value without any file or flag; null for a field that is then unset."""
    source: Source
    """The origin of the value: nothing (``default``), ``--config`` (``file``), ``--config-dir`` (``drop-in``) or a
    flag."""
    origin: str
    """The file and line, as ``c.yaml:3``, or the flag; empty for a default."""


class CurveDocument(TypedDict):
    """The crash-loop back-off of the node."""

    initial_seconds: float
    """The delay of the first restart that waits."""
    max_seconds: float
    """The longest delay."""
    reset_seconds: float
    """A container that ran longer than this starts again with the initial delay."""
    source: CurveSource
    """``default``, ``reduced`` by its feature gate, or ``node`` for a maximum in the configuration."""


class ConfigDocument(TypedDict):
    """The configuration in force."""

    schema: Literal["probelet-config/1"]
    crashLoopBackOff: CurveDocument
    """The curve that the other values result in."""
    featureGates: dict[str, bool]
    """Every feature gate that has an effect, and its value."""
    kubeletconfig: dict[str, Any]
    """The KubeletConfiguration in the form of a file, without unset fields, and only with fields that probelet reads.
    The name is that of the kubelet's own ``/configz``."""
    probeletconfig: dict[str, Any]
    """The ProbeletConfiguration in the form of a file, without unset fields."""
    origins: dict[str, str]
    """The file and line, as ``c.yaml:3``, or the flag, for the path of each field that has no default value."""
    warnings: list[str]
    """Mistakes and ignored values, one line each."""
    settings: NotRequired[list[Setting]]
    """Only with ``--all``: every field, set or not, and every feature gate."""


def config_document(config: Config) -> ConfigDocument:
    """Every effective value. A field without an entry in ``origins`` has its default."""
    return {
        "schema": "probelet-config/1",
        "crashLoopBackOff": curve_document(config.crash_loop),
        "featureGates": {name: config.gates[name] for name in sorted(GATES)},
        "kubeletconfig": written(config.kubelet),
        "probeletconfig": written(config.probelet),
        "origins": dict(sorted(config.origins.items())),
        "warnings": [warning.line_of_log for warning in config.warnings],
    }


def curve_document(curve: CrashLoop) -> CurveDocument:
    """A curve with its times in seconds."""
    return {
        "initial_seconds": _seconds(curve.initial),
        "max_seconds": _seconds(curve.max),
        "reset_seconds": _seconds(curve.reset),
        "source": curve.source,
    }


def _seconds(nanoseconds: int) -> int | float:
    whole, part = divmod(nanoseconds, SECOND)
    return nanoseconds / SECOND if part else whole
