"""The starts of containers by image, and what became longer with the newest image."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from probelet.policy.drift.compare import SAMPLES_MIN, Compared, compare

SAMPLES_MAX: Final = 64
"""The newest starts of an image that count."""

CONTAINERS_MAX: Final = 1_000
"""Containers of workloads; of those beyond, the one without a start for the longest time leaves."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Starts of a container that take longer with an image than with the one before."""

    workload: str
    """``namespace/Kind/name``."""
    container: str
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
class _Container:
    new: _Release
    old: _Release | None = None
    budget: float = 0.0
    rise: Compared | None = None
    """From the old image to the new one, as of the last start: documents and metrics ask far more often."""


class Starts:
    """``started`` takes a start, ``drifts`` says what became longer."""

    def __init__(self) -> None:
        self._containers: dict[tuple[str, str], _Container] = {}

    def started(self, workload: str, container: str, image: str, took: float, budget: float) -> None:
        """A container of a workload has started with an image within ``took`` seconds; the start-up budget is
        ``budget`` seconds. While a rollout goes on, starts of both images come; that of a third one forgets the
        oldest."""
        key = workload, container
        known = self._containers.pop(key, None)
        if known is None:
            known = _Container(_Release(image))
            if len(self._containers) >= CONTAINERS_MAX:
                del self._containers[next(iter(self._containers))]
        self._containers[key] = known
        if image != known.new.image and (known.old is None or image != known.old.image):
            known.old, known.new = known.new, _Release(image)
        release = known.new if image == known.new.image else known.old
        assert release is not None
        release.took.append(took)
        if release is known.new:
            known.budget = budget
        known.rise = None
        if known.old is not None and known.budget:
            known.rise = compare(known.old.took, known.new.took, known.budget)

    def drifts(self) -> Iterator[Drift]:
        """The containers that take longer with the newest image, in the order of the latest starts."""
        for (workload, container), known in self._containers.items():
            if known.old is not None and known.rise is not None:
                yield Drift(workload, container, known.new.image, known.old.image, known.rise)

    def too_few(self) -> Iterator[tuple[str, str, str, int]]:
        """Workload, container, newest image and the number of its starts, where the image before has enough to be
        compared and the newest has not."""
        for (workload, container), known in self._containers.items():
            if known.old is not None and len(known.new.took) < SAMPLES_MIN <= len(known.old.took):
                yield workload, container, known.new.image, len(known.new.took)
