"""Which probes of a node failed their last attempt: a simulation says so of the first failure in a row alone."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from probelet.beside.guard.objects.probe_name import probe_name
from probelet.beside.probes.wanted import Key

_GOOD: Final[Mapping[str, Any]] = {"outcome": "success", "message": ""}


class _Worker(msgspec.Struct):
    """The part of a worker's counts that says how its last attempt ended."""

    pod_uid: str
    pod: str
    container: str
    probe_type: str
    successful: int
    failed: int


_WORKERS: Final = msgspec.json.Decoder(list[_Worker])


class LastAttempts:
    """The first failure in a row is a line of the simulation; for those after it and for successes below the threshold
    there are the counts of its workers. ``counts`` returns them (``Simulation.metrics``)."""

    def __init__(self, counts: Callable[[], bytes]) -> None:
        self._counts = counts
        self._counted: dict[Key, tuple[int, int]] = {}
        self._messages: dict[Key, str] = {}
        self._fails_until: dict[Key, int | None] = {}
        """The probes whose last attempt failed, and when there is a later one that nobody has counted yet."""

    def forget(self, key: Key) -> None:
        """A probe is gone."""
        for kept in (self._counted, self._messages, self._fails_until):
            kept.pop(key, None)

    def failed(self, key: Key, message: str, next_ns: int) -> None:
        """An attempt failed; the next one is over by ``next_ns``."""
        self._messages[key] = message
        self._fails_until[key] = next_ns

    def count(self) -> None:
        """Compare the counts of all attempts with those of the last call."""
        before, self._counted = self._counted, {}
        for each in _WORKERS.decode(self._counts()):
            if each.probe_type != "Liveness":
                continue
            key = each.pod_uid, probe_name("seed", each.pod, each.container)
            self._counted[key] = each.successful, each.failed
            good, bad = before.get(key, self._counted[key])
            if each.successful > good:
                self._fails_until.pop(key, None)
            elif each.failed > bad:
                self._fails_until[key] = None

    def row(self, key: Key, now: int) -> Mapping[str, Any]:
        """The last attempt as in ``Engine.probe_states``, as far as it is known."""
        if key in self._fails_until:
            until = self._fails_until[key]
            if until is None or until > now:
                return {"outcome": "failure", "message": self._messages.get(key, "")}
            del self._fails_until[key]
        return _GOOD
