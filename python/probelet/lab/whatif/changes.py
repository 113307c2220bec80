"""Settings such as ``liveness.failureThreshold=5`` and the probes of a recording that they change.

An option of a probe (``probelet.dev/probe-options``) has the value that it has in the annotation:
``readiness.untilReady=100ms``, ``readiness.failures={"of": 10, "at": 4}``; ``null`` takes it away.
"""

import fnmatch
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from probelet.errors import InvalidInputError
from probelet.lab.recording import Change, Numbers, RecordedPod, Recording
from probelet.spec.annotation.option_values import READERS, Errors, read_options, unfit
from probelet.spec.model.probe import PROBE_TYPES, ProbeType
from probelet.spec.model.probe_options import ProbeOptions

# The field of a manifest -> the name here, and the smallest value (core validation, 1.36).
FIELDS: Final = {
    "initialDelaySeconds": ("initial_delay_seconds", 0),
    "timeoutSeconds": ("timeout_seconds", 1),
    "periodSeconds": ("period_seconds", 1),
    "successThreshold": ("success_threshold", 1),
    "failureThreshold": ("failure_threshold", 1),
    "initializationFailureThreshold": ("initialization_failure_threshold", 0),
}
INT32_MAX: Final = 2**31 - 1

Changes = dict[tuple[int, int], list[Change]]
"""The changes of a pod, by the numbers of its stretch and of the pod in it."""


class SettingError(InvalidInputError):
    """A setting cannot be read, or no probe of the recording has it; one line."""


@dataclass(frozen=True)
class Setting:
    """One field of the probes of one type. ``names`` are patterns for namespace, pod and container; empty: any."""

    text: str
    names: tuple[str, ...]
    type: ProbeType
    field: str
    value: Any

    def is_of(self, pod: RecordedPod, container: str) -> bool:
        """Whether it changes the probes of this container."""
        parts = (pod.namespace, pod.name, container)[-len(self.names) :] if self.names else ()
        return all(fnmatch.fnmatchcase(part, name) for part, name in zip(parts, self.names, strict=True))

    def applied(self, numbers: Numbers) -> Numbers:
        """The probe with this field."""
        if self.field in Numbers.__struct_fields__:
            return msgspec.structs.replace(numbers, **{self.field: self.value})
        options = msgspec.structs.replace(numbers.options or ProbeOptions(), **{self.field: self.value})
        return msgspec.structs.replace(numbers, options=asked_for(options))


def asked_for(options: ProbeOptions) -> ProbeOptions | None:
    """The options as a recording has them: None if there is none."""
    return None if options == ProbeOptions() else options


def settings_of(recording: Recording, texts: Iterable[str], before: Changes | None = None) -> Changes:
    """The changes that settings make, on top of those made ``before``. Raises SettingError for a setting that cannot be
    read or is of no probe."""
    settings = [_setting(text) for text in texts]
    used: set[Setting] = set()
    changes: Changes = {}
    for place, pod in places(recording):
        made = {(change.container, change.type): change for change in (before or {}).get(place, ())}
        for container in pod.containers:
            for type_ in PROBE_TYPES:
                earlier = made.get((container.name, type_))
                numbers = container.probes.get(type_) if earlier is None else earlier.probe
                mine = [each for each in settings if each.type == type_ and each.is_of(pod, container.name)]
                if numbers is None or not mine:
                    continue
                used.update(mine)
                changed = numbers
                for each in mine:
                    changed = each.applied(changed)
                made[container.name, type_] = Change(container.name, type_, changed)
        real = {container.name: container.probes for container in pod.containers}
        kept = [change for change in made.values() if change.probe != real[change.container].get(change.type)]
        if kept:
            changes[place] = kept
    for setting in settings:
        if setting not in used:
            raise SettingError(f"--set {setting.text}: no such probe is in the recording; it has {_probes(recording)}")
    return changes


def places(recording: Recording) -> list[tuple[tuple[int, int], RecordedPod]]:
    """Every pod of a recording with its place."""
    stretches = enumerate(recording.stretches)
    return [((at, number), pod) for at, stretch in stretches for number, pod in enumerate(stretch.pods)]


def unchanged(recording: Recording) -> Changes:
    """No change of any pod: all is played as it was."""
    return {place: [] for place, _ in places(recording)}


def _setting(text: str) -> Setting:
    left, equals, value = text.partition("=")
    path = left.rsplit(".", 2)
    if not equals or len(path) < 2:
        raise SettingError(f"--set {text}: want TYPE.FIELD=NUMBER or POD/CONTAINER.TYPE.FIELD=NUMBER")
    field, type_ = path[-1], path[-2]
    names = tuple(path[0].split("/")) if len(path) == 3 else ()
    if field not in FIELDS and field not in READERS:
        allowed = ", ".join((*FIELDS, *READERS))
        raise SettingError(f"--set {text}: no probe has the field {field!r}; allowed: {allowed}")
    found = next((each for each in PROBE_TYPES if each == type_), None)
    if found is None:
        raise SettingError(f"--set {text}: {type_!r} is no type of a probe; allowed: {', '.join(PROBE_TYPES)}")
    if names and not (2 <= len(names) <= 3 and all(names)):
        raise SettingError(f"--set {text}: {path[0]!r} is no POD/CONTAINER or NAMESPACE/POD/CONTAINER")
    if field in READERS:
        return Setting(text, names, found, READERS[field][0], _option(text, field, found, value))
    name, least = FIELDS[field]
    return Setting(text, names, found, name, _number(text, field, found, value, least))


def _option(text: str, name: str, type_: ProbeType, value: str) -> Any:
    """The value of an option; one that is no JSON is a text, such as a duration."""
    try:
        given = json.loads(value)
    except (ValueError, RecursionError):
        given = value
    errors: Errors = []
    read = read_options({name: given}, type_, errors)
    errors += [] if errors else (misfit.error for misfit in unfit(ProbeOptions(**read), type_, None, type_))
    if errors:
        raise SettingError(f"--set {text}: {errors[0].shortened()}")
    return read[READERS[name][0]]


def _number(text: str, field: str, type_: ProbeType, value: str, least: int) -> int:
    most = 1 if field == "successThreshold" and type_ != "readiness" else INT32_MAX
    number = int(value) if value.isascii() and value.isdigit() and len(value) <= len(str(INT32_MAX)) else -1
    if not least <= number <= most:
        allowed = f"from {least} to {most}" if most > least else str(most)
        raise SettingError(f"--set {text}: {field} of a {type_} probe: {value!r}: must be {allowed}")
    return number


def _probes(recording: Recording) -> str:
    """The first few probes of a recording."""
    names = sorted(
        {
            f"{pod.name}/{container.name}.{type_}"
            for _, pod in places(recording)
            for container in pod.containers
            for type_ in container.probes
        }
    )
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more if names else "no probe at all"


def changed_fields(old: Numbers | None, new: Numbers | None) -> Sequence[tuple[str, Any, Any]]:
    """The fields and options that differ, with the old and the new value; a probe that is not there has none."""
    both = [(field, getattr(old, name, None), getattr(new, name, None)) for field, (name, _) in FIELDS.items()]
    before_options, after_options = (getattr(numbers, "options", None) for numbers in (old, new))
    for option, (name, _) in READERS.items():
        before, after = getattr(before_options, name, None), getattr(after_options, name, None)
        both.append((option, msgspec.to_builtins(before), msgspec.to_builtins(after)))
    return [(field, before, after) for field, before, after in both if before != after]


SHOWN = 5
