"""The options of probes that a configuration allows, and the options that it gives (``probeOptionDefaults``)."""

from collections.abc import Iterator
from typing import Final

from probelet.config.kubelet import Section
from probelet.config.opt_in import ProbeletConfiguration
from probelet.config.written import written
from probelet.spec.annotation.option_values import Errors, read_options, unfit
from probelet.spec.model.probe import PROBE_TYPES, ProbeType
from probelet.spec.model.probe_options import OptionDefaults, ProbeOptions
from probelet.spec.text.problem import FieldError

PATH: Final = "probeOptionDefaults"


def allowed_options(config: ProbeletConfiguration) -> OptionDefaults | None:
    """The options that probes have without an annotation; None if pods may have none at all."""
    if not config.probe_options:
        return None
    return {probe_type: _options(section, "", []) for probe_type, _, section in _sections(config)}


def wrong_defaults(config: ProbeletConfiguration) -> list[FieldError]:
    """The mistakes in ``probeOptionDefaults``."""
    errors: Errors = []
    if not config.probe_options and any(_sections(config)):
        errors.append(FieldError(PATH, "Forbidden", detail="needs probeOptions: true"))
    for probe_type, path, section in _sections(config):
        options = _options(section, path, errors)
        errors += (misfit.error for misfit in unfit(options, probe_type, None, path))
    return errors


def _options(section: Section, path: str, errors: Errors) -> ProbeOptions:
    return ProbeOptions(**read_options(written(section), path, errors))


def _sections(config: ProbeletConfiguration) -> Iterator[tuple[ProbeType, str, Section]]:
    for probe_type in PROBE_TYPES:
        section = getattr(config.probe_option_defaults, f"{probe_type}_probe", None)
        if section is not None:
            yield probe_type, f"{PATH}.{probe_type}Probe", section
