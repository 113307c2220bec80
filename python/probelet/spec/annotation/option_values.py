"""Reads the options of one probe from JSON data: the values of the annotation, of the configuration and of ``--set``.

Each mistake is an error with its path, its value and what is allowed.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, get_args

from probelet.spec.model.probe import Probe, ProbeType
from probelet.spec.model.probe_options import ErrorCause, ErrorRule, FailureWindow, Hysteresis, ProbeOptions
from probelet.spec.text.duration import MILLISECOND, DurationError, parse_duration
from probelet.spec.text.problem import FieldError

WINDOW_MAX: Final = 64
"""The longest window of runs (core ``options.rs``)."""
PACE_MIN_MS: Final = 50
"""The shortest time between two attempts."""
COUNT_MAX: Final = 2**31 - 1
EXAMPLE: Final = '{"app": {"livenessProbe": {"failures": {"of": 10, "at": 4}}}}'
CAUSES: Final[tuple[ErrorCause, ...]] = get_args(ErrorCause)

Errors: TypeAlias = list[FieldError]
Reader: TypeAlias = Callable[[Any, str, Errors], Any]


def read_options(value: Any, path: str, errors: Errors) -> dict[str, Any]:
    """The options that JSON data names, as fields of ``ProbeOptions``; null takes a node's default back."""
    read: dict[str, Any] = {}
    for name, wanted in as_object(value, path, errors).items():
        if name not in READERS:
            detail = f"no such option; allowed: {', '.join(READERS)}"
            errors.append(FieldError(f"{path}.{name}", "Forbidden", detail=detail))
        else:
            field, reader = READERS[name]
            read[field] = None if wanted is None else reader(wanted, f"{path}.{name}", errors)
    return read


class Misfit(NamedTuple):
    """An option that would change nothing for a probe."""

    field: str
    """Its field of ``ProbeOptions``."""
    error: FieldError


def unfit(options: ProbeOptions, probe_type: ProbeType, probe: Probe | None, path: str) -> Iterator[Misfit]:
    """The options that would change nothing: times that are no shorter than the probe's own, the network of a probe
    that opens no connection, and a hysteresis of a probe that has no way back. Without ``probe`` its times are not
    known."""
    period = COUNT_MAX if probe is None else probe.period_seconds
    for name in PACES:
        field = READERS[name][0]
        wanted = getattr(options, field)
        if wanted is not None and wanted >= 1000 * period:
            detail = f"must be shorter than periodSeconds, {period} s"
            yield Misfit(field, FieldError(f"{path}.{name}", "Invalid value", f"{wanted}ms", detail))
    if options.network is not None and probe is not None and probe.exec is not None:
        detail = "an exec probe runs inside its container already; allowed for httpGet, tcpSocket and grpc"
        yield Misfit("network", FieldError(f"{path}.network", "Forbidden", detail=detail))
    if options.network_fallback is not None and options.network is None:
        detail = "applies only beside network: pod"
        yield Misfit("network_fallback", FieldError(f"{path}.networkFallback", "Forbidden", detail=detail))
    if options.hysteresis is None:
        return
    slow = options.hysteresis.slower_than_milliseconds
    if probe_type != "readiness":
        detail = f"a {probe_type} probe never makes a container well again; only a readinessProbe may have it"
        yield Misfit("hysteresis", FieldError(f"{path}.hysteresis", "Forbidden", detail=detail))
    elif probe is not None and slow >= 1000 * probe.timeout_seconds:
        detail = f"must be shorter than timeoutSeconds, {probe.timeout_seconds} s"
        place = f"{path}.hysteresis.slowerThan"
        yield Misfit("hysteresis", FieldError(place, "Invalid value", f"{slow}ms", detail))


def _one_of(*allowed: str) -> Reader:
    def read(value: Any, path: str, errors: Errors) -> str | None:
        if value in allowed and isinstance(value, str):
            return value
        errors.append(FieldError(path, "Unsupported value", value, f"supported values: {', '.join(allowed)}"))
        return None

    return read


def as_object(value: Any, path: str, errors: Errors) -> dict[str, Any]:
    """The value, if it is an object; else an empty one and an error."""
    if isinstance(value, dict):
        return value
    errors.append(FieldError(path, "Invalid value", value, f"must be an object, as in {EXAMPLE}"))
    return {}


def _milliseconds(value: Any, path: str, errors: Errors) -> int | None:
    if type(value) is int and PACE_MIN_MS <= value <= COUNT_MAX:
        return value
    errors.append(FieldError(path, "Invalid value", value, f"must be a whole number of at least {PACE_MIN_MS}"))
    return None


def _pace(value: Any, path: str, errors: Errors) -> int | None:
    return _duration(value, path, errors, PACE_MIN_MS)


def _duration(value: Any, path: str, errors: Errors, least: int) -> int | None:
    try:
        nanoseconds = parse_duration(value) if isinstance(value, str) else 0
    except DurationError:
        nanoseconds = 0
    milliseconds, rest = divmod(nanoseconds, MILLISECOND)
    if not rest and least <= milliseconds <= COUNT_MAX:
        return milliseconds
    detail = f"must be a duration of whole milliseconds and at least {least}ms, such as 250ms"
    errors.append(FieldError(path, "Invalid value", value, detail))
    return None


def _failures(value: Any, path: str, errors: Errors) -> FailureWindow | None:
    numbers = _counts(value, path, {"of": WINDOW_MAX, "at": WINDOW_MAX}, errors)
    if numbers is None:
        return None
    if numbers["at"] > numbers["of"]:
        detail = f"must not be above of, {numbers['of']}: no window has more failures than runs"
        errors.append(FieldError(f"{path}.at", "Invalid value", numbers["at"], detail))
    return FailureWindow(**numbers)


def _errors(value: Any, path: str, errors: Errors) -> ErrorRule | None:
    numbers = _counts(value, path, {"failureAfter": COUNT_MAX}, errors, also=("causes",))
    if numbers is None:
        return None
    causes = numbers.get("causes")
    if causes is not None and not (isinstance(causes, list) and causes and all(cause in CAUSES for cause in causes)):
        detail = f"must be a list of at least one of {', '.join(CAUSES)}"
        errors.append(FieldError(f"{path}.causes", "Invalid value", causes, detail))
        return None
    chosen = None if causes is None else tuple(cause for cause in CAUSES if cause in causes)
    return ErrorRule(failure_after=numbers["failureAfter"], causes=chosen)


def _hysteresis(value: Any, path: str, errors: Errors) -> Hysteresis | None:
    before = len(errors)
    found = _members(value, path, ("slowerThan",), errors)
    if "slowerThan" not in found:
        if len(errors) == before:
            errors.append(FieldError(f"{path}.slowerThan", "Required value"))
        return None
    slow = _duration(found["slowerThan"], f"{path}.slowerThan", errors, least=1)
    return None if slow is None else Hysteresis(slower_than_milliseconds=slow)


def _counts(
    value: Any, path: str, limits: Mapping[str, int], errors: Errors, also: tuple[str, ...] = ()
) -> dict[str, Any] | None:
    """The members of an object that must have these whole numbers, from 1 to their limit, and may have those of
    ``also``."""
    before = len(errors)
    found = _members(value, path, (*limits, *also), errors)
    if not isinstance(value, dict):
        return None
    for name, limit in limits.items():
        if name not in found:
            errors.append(FieldError(f"{path}.{name}", "Required value"))
        elif not (type(found[name]) is int and 1 <= found[name] <= limit):
            detail = f"must be a whole number from 1 to {limit}"
            errors.append(FieldError(f"{path}.{name}", "Invalid value", found[name], detail))
    return found if len(errors) == before else None


def _members(value: Any, path: str, names: tuple[str, ...], errors: Errors) -> dict[str, Any]:
    found = as_object(value, path, errors)
    for name in found.keys() - set(names):
        detail = f"no such member; allowed: {', '.join(names)}"
        errors.append(FieldError(f"{path}.{name}", "Forbidden", detail=detail))
    return found


READERS: Final[Mapping[str, tuple[str, Reader]]] = {
    "errors": ("errors", _errors),
    "failures": ("failures", _failures),
    "hysteresis": ("hysteresis", _hysteresis),
    "network": ("network", _one_of("pod")),
    "networkFallback": ("network_fallback", _one_of("error", "ordinary")),
    "periodMilliseconds": ("period_milliseconds", _milliseconds),
    "untilReady": ("until_ready_milliseconds", _pace),
    "whenFailing": ("when_failing_milliseconds", _pace),
}
"""Each option: the field of ``ProbeOptions``, and what reads it."""

PACES: Final = ("periodMilliseconds", "untilReady", "whenFailing")
"""The options that are times from one attempt to the next."""
