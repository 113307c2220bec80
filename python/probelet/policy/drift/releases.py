"""Times of containers by image, and what became longer with the newest image."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from probelet.policy.drift.compare import SAMPLES_MIN, Compared, compare, percentile

SAMPLES_MAX: Final = 64
"""The newest times with an image that count."""

MEASURED_MAX: Final = 1_000
"""Series of times; of more than that, the one without a time for the longest while leaves."""


class Measured(NamedTuple):
    """The thing in a container of a workload that takes its time."""

    workload: str
    """``namespace/Kind/name``."""
    container: str
    what: str
    """``starts``, or answers of a probe."""


class Drift(msgspec.Struct, frozen=True):
    """Something that takes longer with an image than with the one before."""

    of: Measured
    image: str
    before: str
    """The image before."""
    compared: Compared
    """Seconds."""


@dataclass(slots=True)
class _Release:
    image: str
    took: deque[float] = field(default_factory=lambda: deque(maxlen=SAMPLES_MAX))


@dataclass(slots=True)
class _Known:
    new: _Release
    old: _Release | None = None
    limit: float = 0.0
    old_in_a_row: int = 0
    """Times with the old image since the last one with the new image."""
    rise: Compared | None = None
    """From the old image to the new one, as of the last time: documents and metrics ask far more often."""


class Releases:
    """``took`` takes a time, ``drifts`` says what became longer. ``percentile`` finds the 99th percentile in times."""

    def __init__(self, percentile: Callable[[Sequence[float]], float] = percentile) -> None:
        self._percentile = percentile
        self._known: dict[Measured, _Known] = {}

    def took(self, of: Measured, image: str, seconds: float, limit: float) -> None:
        """It took ``seconds`` with an image, and may take ``limit`` seconds. While a rollout goes on, times of both
        images come; that of a third one forgets the oldest."""
        known = self._known.pop(of, None)
        if known is None:
            known = _Known(_Release(image))
            if len(self._known) >= MEASURED_MAX:
                del self._known[next(iter(self._known))]
        self._known[of] = known
        if image == known.new.image:
            known.old_in_a_row = 0
        elif known.old is not None and image == known.old.image:
            known.old_in_a_row += 1
        else:
            known.old, known.new, known.old_in_a_row = known.new, _Release(image), 0
        if known.old is not None and known.old_in_a_row >= SAMPLES_MIN:
            # The rollout was taken back: nobody wants to hear of its image any more.
            known.new, known.old, known.old_in_a_row = known.old, known.new, 0
        release = known.new if known.old is None or image == known.new.image else known.old
        release.took.append(seconds)
        if release is known.new:
            known.limit = limit
        known.rise = None
        if known.old is not None and known.limit:
            known.rise = compare(known.old.took, known.new.took, known.limit, self._percentile)

    def drifts(self) -> Iterator[Drift]:
        """The things that take longer with the newest image, in the order of the latest times."""
        for of, known in self._known.items():
            if known.old is not None and known.rise is not None:
                yield Drift(of, known.new.image, known.old.image, known.rise)

    def too_few(self) -> Iterator[tuple[Measured, str, int]]:
        """Each measured thing, its newest image and the number of its times, where the image before has enough to be
        compared and the newest has not."""
        for of, known in self._known.items():
            if known.old is not None and len(known.new.took) < SAMPLES_MIN <= len(known.old.took):
                yield of, known.new.image, len(known.new.took)
