"""Back-off of image pulls: its own object, with numbers that no gate and no configuration moves.

client-go util/flowcontrol.Backoff as pkg/kubelet/images/image_manager.go uses it, 1.36. The kubelet's key is the pod's
UID and the image as written, so one table per pod keyed by image is the same thing.
"""

from dataclasses import dataclass
from typing import Final

INITIAL_NS: Final = 10_000_000_000
"""After the first failed pull (kubelet ``imageBackOffPeriod``, 1.36)."""

MAX_NS: Final = 300_000_000_000
"""Doubled up to this (kubelet ``MaxImageBackOff``, 1.36)."""

RESET_NS: Final = 2 * MAX_NS
"""So long after the last failure it begins anew (flowcontrol ``hasExpired``)."""


@dataclass(frozen=True, slots=True)
class _Entry:
    delay_ns: int
    failed_at_ns: int
    error: str


class ImageBackoff:
    """The images of one pod whose last pull failed. ``now`` never goes back."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    def wait(self, image: str, now: int) -> tuple[int, int] | None:
        """``(due_ns, delay_ns)`` while a pull has to wait, None when it may be tried."""
        entry = self._entries.get(image)
        if entry is None or now - entry.failed_at_ns >= entry.delay_ns:
            return None
        return entry.failed_at_ns + entry.delay_ns, entry.delay_ns

    def error(self, image: str) -> str:
        """What the last pull failed with; empty when it did not."""
        entry = self._entries.get(image)
        return "" if entry is None else entry.error

    def failed(self, image: str, error: str, now: int) -> None:
        """A pull has just failed."""
        entry = self._entries.get(image)
        delay = INITIAL_NS
        if entry is not None and now - entry.failed_at_ns <= RESET_NS:
            delay = min(entry.delay_ns * 2, MAX_NS)
        self._entries[image] = _Entry(delay, now, error)
