"""The options that a pod has for its probes (ours), as JSON: container -> field of the probe -> options.

``probelet.dev/probe-options: {"app": {"livenessProbe": {"failures": {"of": 10, "at": 4}}}}``. It applies only if the
node sets ``probeOptions``. A value with a mistake applies to no probe of its pod: half of a wish might be the opposite
of it. What the annotation does not name is as the node's ``probeOptionDefaults`` say.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from probelet.spec.annotation.initialization import with_probes
from probelet.spec.annotation.option_values import EXAMPLE, Errors, as_object, read_options, unfit
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import PROBE_TYPES, Probe, ProbeType
from probelet.spec.model.probe_options import NO_DEFAULTS, OptionDefaults, ProbeOptions, with_options
from probelet.spec.text.problem import FieldError

ANNOTATION: Final = "probelet.dev/probe-options"
PATH: Final = f"metadata.annotations[{ANNOTATION}]"

FIELDS: Final[Mapping[str, ProbeType]] = {f"{probe_type}Probe": probe_type for probe_type in PROBE_TYPES}

_Chosen = dict[str, dict[ProbeType, dict[str, Any]]]
"""Container -> type -> the options that the annotation names."""


def fold_options(pod: Pod, defaults: OptionDefaults | None = NO_DEFAULTS) -> tuple[Pod, Errors]:
    """Writes the annotation's options, and the node's where it names none, into a copy of ``pod``, whose defaults are
    set. With a mistake in the annotation, which is an error with its path, only the node's apply. ``defaults`` is None
    on a node that allows no options: it does not read the annotation."""
    errors: Errors = []
    if defaults is None:
        return pod, errors
    text = pod.metadata.annotations.get(ANNOTATION)
    chosen = {} if text is None else _chosen(pod, text, defaults, errors)
    if errors:
        chosen = {}
    if not chosen and not defaults:
        return pod, errors
    spec = replace(
        pod.spec,
        containers=[_folded(container, chosen, defaults) for container in pod.spec.containers],
        init_containers=[_folded(container, chosen, defaults) for container in pod.spec.init_containers],
    )
    return replace(pod, spec=spec), errors


def _chosen(pod: Pod, text: str, defaults: OptionDefaults, errors: Errors) -> _Chosen:
    containers = as_object(_parsed(text, errors), PATH, errors)
    known = {container.name: container for container in (*pod.spec.containers, *pod.spec.init_containers)}
    chosen: _Chosen = {}
    for name, probes in containers.items():
        if name not in known:
            errors.append(FieldError(f"{PATH}.{name}", "Invalid value", name, "the pod has no such container"))
        else:
            chosen[name] = _container(known[name], probes, f"{PATH}.{name}", defaults, errors)
    return chosen


def _parsed(text: str, errors: Errors) -> Any:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            errors.extend(FieldError(PATH, "Duplicate value", name) for name in found if names.count(name) > 1)
        return found

    try:
        return json.loads(text, object_pairs_hook=members)
    except (ValueError, RecursionError):
        errors.append(FieldError(PATH, "Invalid value", text, f"must be JSON such as {EXAMPLE}"))
        return {}


def _container(
    container: Container, value: Any, path: str, defaults: OptionDefaults, errors: Errors
) -> dict[ProbeType, dict[str, Any]]:
    chosen: dict[ProbeType, dict[str, Any]] = {}
    for field, wanted in as_object(value, path, errors).items():
        place = f"{path}.{field}"
        probe = container.probe(FIELDS[field]) if field in FIELDS else None
        if field not in FIELDS:
            errors.append(FieldError(place, "Forbidden", detail=f"no such probe; allowed: {', '.join(FIELDS)}"))
        elif probe is None:
            errors.append(FieldError(place, "Invalid value", field, "the container has no such probe"))
        else:
            probe_type = FIELDS[field]
            chosen[probe_type] = options = read_options(wanted, place, errors)
            misfits = unfit(_together(defaults, probe_type, options), probe_type, probe, place)
            errors += (misfit.error for misfit in misfits if misfit.field in options)
    return chosen


def _folded(container: Container, chosen: _Chosen, defaults: OptionDefaults) -> Container:
    folded: dict[ProbeType, Probe] = {}
    for probe_type, probe in container.probes.items():
        named = chosen.get(container.name, {}).get(probe_type)
        if named is not None or probe_type in defaults:
            options = _fitting(_together(defaults, probe_type, named or {}), probe_type, probe)
            folded[probe_type] = with_options(probe, options)
    return with_probes(container, folded) if folded else container


def _together(defaults: OptionDefaults, probe_type: ProbeType, named: dict[str, Any]) -> ProbeOptions:
    """The options that the annotation names, and the node's for the others."""
    return replace(defaults.get(probe_type, ProbeOptions()), **named)


def _fitting(options: ProbeOptions, probe_type: ProbeType, probe: Probe) -> ProbeOptions:
    """The options without those of the node's that change nothing for this probe, such as a longer time than its own.
    Without ``network`` its fallback changes nothing either."""
    misfits = {misfit.field: None for misfit in unfit(options, probe_type, probe, "")}
    return _fitting(replace(options, **misfits), probe_type, probe) if misfits else options
