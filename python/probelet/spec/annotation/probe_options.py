"""The options that a pod has for its probes (ours), as JSON: container -> field of the probe -> options.

``probelet.dev/probe-options: {"app": {"livenessProbe": {"failures": {"of": 10, "at": 4}}}}``. It applies only if the
node sets ``probeOptions``. A value with a mistake applies to no probe of its pod: half of a wish might be the opposite
of it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from probelet.spec.annotation.initialization import with_probes
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import PROBE_TYPES, Probe, ProbeType
from probelet.spec.model.probe_options import ErrorRule, FailureWindow, ProbeOptions, with_options
from probelet.spec.text.duration import MILLISECOND, DurationError, parse_duration
from probelet.spec.text.problem import FieldError

ANNOTATION: Final = "probelet.dev/probe-options"
PATH: Final = f"metadata.annotations[{ANNOTATION}]"

WINDOW_MAX: Final = 64
"""The longest window of runs (core ``options.rs``)."""
PACE_MIN_MS: Final = 50
"""The shortest time between two attempts."""
COUNT_MAX: Final = 2**31 - 1
EXAMPLE: Final = '{"app": {"livenessProbe": {"failures": {"of": 10, "at": 4}}}}'

FIELDS: Final[Mapping[str, ProbeType]] = {f"{probe_type}Probe": probe_type for probe_type in PROBE_TYPES}

_Errors: TypeAlias = list[FieldError]


def fold_options(pod: Pod) -> tuple[Pod, _Errors]:
    """Writes the annotation's options into a copy of ``pod``, whose defaults are set. With a mistake the pod stays as
    it is; each mistake is an error with its path."""
    text = pod.metadata.annotations.get(ANNOTATION)
    if text is None:
        return pod, []
    errors: _Errors = []
    containers = _object(_parsed(text, errors), PATH, errors)
    known = {container.name: container for container in (*pod.spec.containers, *pod.spec.init_containers)}
    chosen: dict[str, dict[ProbeType, Probe]] = {}
    for name, probes in containers.items():
        if name not in known:
            errors.append(FieldError(f"{PATH}.{name}", "Invalid value", name, "the pod has no such container"))
        else:
            chosen[name] = _container(known[name], probes, f"{PATH}.{name}", errors)
    if errors:
        return pod, errors
    spec = replace(
        pod.spec,
        containers=[with_probes(container, chosen.get(container.name, {})) for container in pod.spec.containers],
        init_containers=[with_probes(each, chosen.get(each.name, {})) for each in pod.spec.init_containers],
    )
    return replace(pod, spec=spec), []


def _parsed(text: str, errors: _Errors) -> Any:
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


def _object(value: Any, path: str, errors: _Errors) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    errors.append(FieldError(path, "Invalid value", value, f"must be an object, as in {EXAMPLE}"))
    return {}


def _container(container: Container, value: Any, path: str, errors: _Errors) -> dict[ProbeType, Probe]:
    folded: dict[ProbeType, Probe] = {}
    for field, wanted in _object(value, path, errors).items():
        place = f"{path}.{field}"
        probe = container.probe(FIELDS[field]) if field in FIELDS else None
        if field not in FIELDS:
            errors.append(FieldError(place, "Forbidden", detail=f"no such probe; allowed: {', '.join(FIELDS)}"))
        elif probe is None:
            errors.append(FieldError(place, "Invalid value", field, "the container has no such probe"))
        else:
            options = _options(_object(wanted, place, errors), place, errors)
            errors += (*_too_slow(options, probe, place), *_unfit_network(options, probe, place))
            folded[FIELDS[field]] = with_options(probe, options)
    return folded


def _options(value: dict[str, Any], path: str, errors: _Errors) -> ProbeOptions:
    read: dict[str, Any] = {}
    for name, wanted in value.items():
        if name not in _READERS:
            detail = f"no such option; allowed: {', '.join(_READERS)}"
            errors.append(FieldError(f"{path}.{name}", "Forbidden", detail=detail))
        else:
            field, reader = _READERS[name]
            read[field] = reader(wanted, f"{path}.{name}", errors)
    return ProbeOptions(**read)


def _too_slow(options: ProbeOptions, probe: Probe, path: str) -> Iterator[FieldError]:
    """The times that are no shorter than the ordinary period: they would change nothing."""
    for name, (field, reader) in _READERS.items():
        wanted = getattr(options, field) if reader in (_milliseconds, _duration) else None
        if wanted is not None and wanted >= 1000 * probe.period_seconds:
            detail = f"must be shorter than periodSeconds, {probe.period_seconds} s"
            yield FieldError(f"{path}.{name}", "Invalid value", f"{wanted}ms", detail)


def _unfit_network(options: ProbeOptions, probe: Probe, path: str) -> Iterator[FieldError]:
    """``network`` of a probe that opens no connection, and a fallback for nothing."""
    if options.network is not None and probe.exec is not None:
        detail = "an exec probe runs inside its container already; allowed for httpGet, tcpSocket and grpc"
        yield FieldError(f"{path}.network", "Forbidden", detail=detail)
    if options.network_fallback is not None and options.network is None:
        yield FieldError(f"{path}.networkFallback", "Forbidden", detail="applies only beside network: pod")


def _one_of(*allowed: str) -> Callable[[Any, str, _Errors], str | None]:
    def read(value: Any, path: str, errors: _Errors) -> str | None:
        if value in allowed and isinstance(value, str):
            return value
        errors.append(FieldError(path, "Unsupported value", value, f"supported values: {', '.join(allowed)}"))
        return None

    return read


def _milliseconds(value: Any, path: str, errors: _Errors) -> int | None:
    if type(value) is int and PACE_MIN_MS <= value <= COUNT_MAX:
        return value
    errors.append(FieldError(path, "Invalid value", value, f"must be a whole number of at least {PACE_MIN_MS}"))
    return None


def _duration(value: Any, path: str, errors: _Errors) -> int | None:
    try:
        nanoseconds = parse_duration(value) if isinstance(value, str) else 0
    except DurationError:
        nanoseconds = 0
    milliseconds, rest = divmod(nanoseconds, MILLISECOND)
    if not rest and PACE_MIN_MS <= milliseconds <= COUNT_MAX:
        return milliseconds
    detail = f"must be a duration of whole milliseconds and at least {PACE_MIN_MS}ms, such as 250ms"
    errors.append(FieldError(path, "Invalid value", value, detail))
    return None


def _failures(value: Any, path: str, errors: _Errors) -> FailureWindow | None:
    numbers = _counts(value, path, {"of": WINDOW_MAX, "at": WINDOW_MAX}, errors)
    if numbers is None:
        return None
    if numbers["at"] > numbers["of"]:
        detail = f"must not be above of, {numbers['of']}: no window has more failures than runs"
        errors.append(FieldError(f"{path}.at", "Invalid value", numbers["at"], detail))
    return FailureWindow(**numbers)


def _errors(value: Any, path: str, errors: _Errors) -> ErrorRule | None:
    numbers = _counts(value, path, {"failureAfter": COUNT_MAX}, errors)
    return None if numbers is None else ErrorRule(failure_after=numbers["failureAfter"])


def _counts(value: Any, path: str, limits: Mapping[str, int], errors: _Errors) -> dict[str, int] | None:
    """The members of an object that must have exactly these, whole numbers from 1 to their limit."""
    before = len(errors)
    found = _object(value, path, errors)
    if len(errors) > before:
        return None
    for name in found.keys() - limits.keys():
        detail = f"no such member; allowed: {', '.join(limits)}"
        errors.append(FieldError(f"{path}.{name}", "Forbidden", detail=detail))
    for name, limit in limits.items():
        if name not in found:
            errors.append(FieldError(f"{path}.{name}", "Required value"))
        elif not (type(found[name]) is int and 1 <= found[name] <= limit):
            detail = f"must be a whole number from 1 to {limit}"
            errors.append(FieldError(f"{path}.{name}", "Invalid value", found[name], detail))
    return found if len(errors) == before else None


_READERS: Final[Mapping[str, tuple[str, Callable[[Any, str, _Errors], Any]]]] = {
    "errors": ("errors", _errors),
    "failures": ("failures", _failures),
    "network": ("network", _one_of("pod")),
    "networkFallback": ("network_fallback", _one_of("error", "ordinary")),
    "periodMilliseconds": ("period_milliseconds", _milliseconds),
    "untilReady": ("until_ready_milliseconds", _duration),
    "whenFailing": ("when_failing_milliseconds", _duration),
}
"""Each option of the annotation: the field of ``ProbeOptions``, and what reads it."""
