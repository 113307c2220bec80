"""How often each container was restarted: the delay before its next restart, and the cap of an hour.

The delays are those of the core's back-off. Its own reset is not used: here a delay begins anew once the probe has
succeeded for the reset time, however long the container runs.
"""

from collections import defaultdict, deque
from typing import Final

from probelet._rust import Backoff
from probelet.beside.guard.restart.settings.config import Config

HOUR_NS: Final = 3_600_000_000_000
RESTARTS_MAX: Final = 3_600
"""Restarts of a container that are remembered; ``maxRestartsPerHour`` is at most that."""
_NEVER_NS: Final = 2**62


class History:
    """The restarts of each container; a key is ``<pod UID>/<container>``."""

    def __init__(self, config: Config) -> None:
        self._table = _table(config)
        self._limits = config.backoff_base_ns, config.backoff_max_ns
        self._reset_ns = config.backoff_reset_ns
        self._restarts: defaultdict[str, deque[int]] = defaultdict(lambda: deque(maxlen=RESTARTS_MAX))
        self._ok_since: dict[str, int] = {}

    def configure(self, config: Config) -> None:
        """Take new limits; the containers keep the restarts of the last hour, and so their place on the curve."""
        self._reset_ns = config.backoff_reset_ns
        if self._limits != (config.backoff_base_ns, config.backoff_max_ns):
            self._limits = config.backoff_base_ns, config.backoff_max_ns
            self._table = _table(config)
            for key, moments in self._restarts.items():
                for moment in moments:
                    self._table.note_failure(key, moment)

    def restarted(self, key: str, now: int) -> None:
        """A container is restarted, or a try to do so has failed."""
        self._table.note_failure(key, now)
        self._restarts[key].append(now)

    def state(self, key: str, now: int, *, has_succeeded: bool) -> None:
        """Note what a probe says now. The delay begins anew if it has succeeded for long enough."""
        if key not in self._restarts:
            return
        since = self._ok_since.get(key)
        if since is not None and now - since >= self._reset_ns:
            self._table.reset(key)
            self._trim(key, now)
        if has_succeeded:
            self._ok_since.setdefault(key, now)
        else:
            self._ok_since.pop(key, None)

    def due(self, key: str, now: int) -> tuple[int, int] | None:
        """When a container may be restarted again, and the delay; None: now."""
        waits = self._table.retry_due(key, now)
        return waits if waits is not None and waits[0] > now else None

    def cap_due(self, key: str, now: int, most: int) -> int | None:
        """When a container has fewer than ``most`` restarts in an hour; None: it has now, or there is no cap."""
        moments = self._restarts.get(key)
        if not most or moments is None:
            return None
        recent = [moment for moment in moments if now - moment < HOUR_NS]
        return recent[-most] + HOUR_NS if len(recent) >= most else None

    def forget(self, uid: str) -> None:
        """Forget a pod that is gone."""
        for key in [each for each in self._restarts if each.partition("/")[0] == uid]:
            del self._restarts[key]
            self._ok_since.pop(key, None)
            self._table.reset(key)

    def _trim(self, key: str, now: int) -> None:
        moments = self._restarts[key]
        while moments and now - moments[0] >= HOUR_NS:
            moments.popleft()
        if not moments:
            del self._restarts[key]


def _table(config: Config) -> Backoff:
    return Backoff(initial_ns=config.backoff_base_ns, max_ns=config.backoff_max_ns, reset_ns=_NEVER_NS)
