"""The options of a probe, which a kubelet does not have (ours): the annotation ``probelet.dev/probe-options``.

The engine reads it as a field of the probe. No manifest can have that field: ``Probe`` itself has it not.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from probelet.spec.model.meta import Int32, Object
from probelet.spec.model.probe import Probe, ProbeType

ErrorCause: TypeAlias = Literal["body", "cri", "port", "request"]
"""Why a prober could not ask a container: the words of ``cause`` in the status that an error can have and may count."""


class FailureWindow(Object, frozen=True, kw_only=True, omit_defaults=False):
    """A failure is at least ``at`` failures among the last ``of`` runs."""

    of: Int32 = 0
    at: Int32 = 0


class ErrorRule(Object, frozen=True, kw_only=True):
    """The prober error with the number ``failure_after`` in a row is a failed run, and so is each one after it."""

    failure_after: Int32 = 0
    causes: tuple[ErrorCause, ...] | None = None
    """Only errors of these causes; None for all."""


class Hysteresis(Object, frozen=True, kw_only=True, omit_defaults=False):
    """A success that took longer than ``slower_than_milliseconds`` counts half."""

    slower_than_milliseconds: int = 0


class ProbeOptions(Object, frozen=True, kw_only=True):
    """The options of one probe; a member that is None is not asked for."""

    failures: FailureWindow | None = None
    errors: ErrorRule | None = None
    hysteresis: Hysteresis | None = None
    period_milliseconds: int | None = None
    """From the beginning of one attempt to the next."""
    until_ready_milliseconds: int | None = None
    """The same before a container's first success."""
    when_failing_milliseconds: int | None = None
    """The same after a failure."""
    network: Literal["pod"] | None = None
    """From where attempts over a socket are made: ``pod`` is from inside the pod's own network namespace."""
    network_fallback: Literal["error", "ordinary"] | None = None
    """Behaviour where that namespace cannot be entered: a prober error (default), or an ordinary attempt."""


OptionDefaults: TypeAlias = Mapping[ProbeType, ProbeOptions]
"""The options of a node's probes of a type where their pod's annotation says nothing."""

NO_DEFAULTS: Final[OptionDefaults] = {}


class OptedProbe(Probe, frozen=True, kw_only=True):
    """A probe with options."""

    options: ProbeOptions = ProbeOptions()


def options_of(probe: Probe) -> ProbeOptions:
    """The options of a probe; a probe without any has empty ones."""
    return probe.options if isinstance(probe, OptedProbe) else ProbeOptions()


def with_options(probe: Probe, options: ProbeOptions) -> OptedProbe:
    """A copy of ``probe`` with ``options``."""
    fields: dict[str, Any] = {field.name: getattr(probe, field.name) for field in msgspec.structs.fields(Probe)}
    return OptedProbe(**fields, options=options)
