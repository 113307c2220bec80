"""The answers of probes by image, from the slowest answer of each history.

A history has 64 attempts, of which the slowest exceeds the 99th percentile of its probe's answers about as often as
not. So the median of such values is that percentile, and no single attempt is needed to know it.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from probelet.policy.drift.releases import MEASURED_MAX, Drift, Measured, Releases

WINDOW_S: Final = 600
"""The slowest answers of all pods in so many seconds are one value. What slows a workload for some minutes is then one
value of eight, however many pods it has."""

WINDOW_VALUES_MAX: Final = 64
"""The newest slowest answers of a window that count."""


@dataclass(slots=True)
class _Window:
    began_s: float
    took: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW_VALUES_MAX))


class Answers:
    """``answered`` takes the slowest answer of a history, ``drifts`` says which answers became slower."""

    def __init__(self) -> None:
        self._releases = Releases(median)
        self._windows: dict[tuple[Measured, str], _Window] = {}

    def answered(self, now_s: float, of: Measured, image: str, seconds: float, timeout: float) -> None:
        """The slowest answer of a probe's history took ``seconds`` with an image; ``now_s`` only grows."""
        key = of, image
        window = self._windows.pop(key, None)
        if window is not None and now_s - window.began_s >= WINDOW_S:
            self._releases.took(of, image, median(window.took), timeout)
            window = None
        # While a rollout goes on, two images have windows.
        if window is None and len(self._windows) >= 2 * MEASURED_MAX:
            del self._windows[next(iter(self._windows))]
        window = self._windows[key] = window or _Window(now_s)
        window.took.append(seconds)

    def drifts(self) -> Iterator[Drift]:
        """The answers that take longer with the newest image."""
        return self._releases.drifts()
