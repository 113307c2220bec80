"""The log lines of a pod's results: one for each change, and none for the result that every container begins with."""

from typing import Any, Final

from probelet._rust import Update
from probelet.runtime.seen.cache import PodCache

INITIAL_RESULTS: Final[dict[str, str]] = {
    "liveness": "Success",
    "readiness": "Failure",
    "startup": "Unknown",
}
"""The results published for a new container before its first run (kubelet worker.go, 1.36)."""


class ResultLog:
    """The results of one pod; ``log`` is bound to it."""

    def __init__(self, uid: str, cache: PodCache, log: Any) -> None:
        self._uid = uid
        self._cache = cache
        self._log = log
        # By type and container name: the instance and the result that the log last had.
        self._said: dict[tuple[str, str], tuple[str, str | None]] = {}

    def log(self, update: Update) -> None:
        """Logs a result that changed."""
        known = self._cache.container(self._uid, update.container_id)
        if known is None:
            return
        key = (update.probe_type, known.name)
        instance, result = self._said.get(key, ("", ""))
        if (result if instance == known.id else INITIAL_RESULTS[update.probe_type]) == update.result:
            return
        self._said[key] = (known.id, update.result)
        say = self._log.warning if update.result == "Failure" else self._log.info
        say("probe result", container=known.name, probe_type=update.probe_type, result=update.result)
