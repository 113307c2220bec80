"""Several running programs with the kubelet's handlers, so that most of the waiting is done at once."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any

from tests.handlers.recorder.kubelet import Kubelet, build
from tests.handlers.recorder.record import recorded
from tests.kubelet.recorder.release import KubeletRelease

TOGETHER = 4
"""Cases played at once; more would delay the probes."""


class Kubelets:
    """The handlers of one release, built and started.

    Raises:
        GoMissingError: there is no Go, or one of another release.
        NoReleaseError: the Go proxy does not give the release.
    """

    def __init__(self, release: KubeletRelease) -> None:
        program = build(release)
        self._stack = ExitStack()
        self._idle: SimpleQueue[Kubelet] = SimpleQueue()
        for _ in range(TOGETHER):
            self._idle.put(self._stack.enter_context(Kubelet(program)))

    def __enter__(self) -> "Kubelets":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def asked(self, cases: Sequence[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
        """Each case with a new ``expect``; ``folder`` is where it looks for certificates."""
        with ThreadPoolExecutor(TOGETHER) as pool:
            return list(pool.map(lambda case: self._asked(case, folder), cases))

    def _asked(self, case: dict[str, Any], folder: Path) -> dict[str, Any]:
        kubelet = self._idle.get()
        try:
            return recorded(case, folder, kubelet)
        finally:
            self._idle.put(kubelet)
