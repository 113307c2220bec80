"""The failureThreshold with which readiness would have stayed calm: plays of a recording find it."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from probelet.lab.recording import Change, Life, Numbers, RecordedPod, Recording, Stretch
from probelet.lab.whatif.outages import outages

THRESHOLD_MAX: Final = 30
"""A failureThreshold above this is no remedy: at the default period it hides five minutes."""


class Part(NamedTuple):
    """The part of one stretch of a recording about a pod."""

    stretch_number: int
    pod_number: int
    stretch: Stretch
    pod: RecordedPod


def calm(recording: Recording, parts: Iterable[Part], container: str, lives: Iterable[Life]) -> int | None:
    """The smallest failureThreshold with which no play of these parts has an outage; None if there is none."""
    parts, lives = list(parts), list(lives)
    low, high = 1, THRESHOLD_MAX
    if not _is_calm(recording, parts, container, lives, high):
        return None
    while low < high:
        middle = (low + high) // 2
        if _is_calm(recording, parts, container, lives, middle):
            high = middle
        else:
            low = middle + 1
    return low


def _is_calm(recording: Recording, parts: list[Part], container: str, lives: list[Life], threshold: int) -> bool:
    for part in parts:
        numbers = _readiness(part.pod, container)
        if numbers is None:
            continue
        probe = msgspec.structs.replace(numbers, failure_threshold=threshold)
        change = Change(container, "readiness", probe)
        played = recording.play(part.stretch_number, part.pod_number, [change], "healthy")
        if any(outages(played.results, life, part.stretch.to_us) for life in lives):
            return False
    return True


def _readiness(pod: RecordedPod, container: str) -> Numbers | None:
    return next((each.probes.get("readiness") for each in pod.containers if each.name == container), None)
