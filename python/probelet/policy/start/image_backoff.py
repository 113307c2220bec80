"""Back-off of image pulls: a table of its own, with numbers that neither the restart gate nor a configuration changes.

client-go util/flowcontrol.Backoff as pkg/kubelet/images/image_manager.go uses it, 1.36. The kubelet's key is the pod's
UID and the image as written, so one table per pod keyed by image is the same thing.
"""

from typing import Final

from probelet._rust import Backoff

INITIAL_NS: Final = 10_000_000_000
"""After the first failed pull (kubelet ``imageBackOffPeriod``, 1.36)."""

MAX_NS: Final = 300_000_000_000
"""Doubled up to this (kubelet ``MaxImageBackOff``, 1.36)."""

RESET_NS: Final = 2 * MAX_NS
"""The back-off begins anew this long after the last failure (flowcontrol ``hasExpired``)."""


class ImageBackoff:
    """The images of one pod whose last pull failed. ``now`` never goes back."""

    def __init__(self) -> None:
        self._table = Backoff(initial_ns=INITIAL_NS, max_ns=MAX_NS, reset_ns=RESET_NS)
        self._errors: dict[str, str] = {}

    def wait(self, image: str, now: int) -> tuple[int, int] | None:
        """``(due_ns, delay_ns)`` while a pull has to wait, None when it may be tried."""
        return self._table.retry_due(image, now)

    def error(self, image: str) -> str:
        """The error of the last pull; empty if it succeeded."""
        return self._errors.get(image, "")

    def failed(self, image: str, error: str, now: int) -> None:
        """A pull has just failed."""
        self._table.note_failure(image, now)
        self._errors[image] = error
