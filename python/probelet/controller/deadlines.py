"""Deadlines on a clock without a wheel, for code that is made for an engine's (``host.incidents.watch.Deadlines``)."""

from collections.abc import Callable
from itertools import count

from probelet.controller.alarm import Alarm
from probelet.kube.clock import Clock


class ClockDeadlines:
    """Calls back while ``alarm`` runs. Few deadlines wait at a time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tokens = count(1)
        self._armed: dict[int, tuple[int, Callable[[], None]]] = {}
        self.alarm = Alarm(clock, self._next, self._fire)

    def now(self) -> int:
        """Monotonic nanoseconds."""
        return self._clock.now()

    def wall_ns(self) -> int:
        """Unix nanoseconds."""
        return self._clock.wall_ns()

    def arm(self, deadline_ns: int, fire: Callable[[], None]) -> int:
        """Calls ``fire`` at ``deadline_ns``; returns the token for ``cancel``."""
        token = next(self._tokens)
        self._armed[token] = (deadline_ns, fire)
        self.alarm.rearm()
        return token

    def cancel(self, token: int) -> None:
        """Forgets a deadline."""
        self._armed.pop(token, None)

    def _next(self, _: int) -> int | None:
        return min((deadline for deadline, _ in self._armed.values()), default=None)

    def _fire(self) -> None:
        now = self._clock.now()
        for token, (deadline, fire) in [*self._armed.items()]:
            if deadline <= now and self._armed.pop(token, None) is not None:
                fire()
