"""The opt-ins of ``ProbeletConfiguration`` for exec attempts."""

import msgspec


class ExecLimits(msgspec.Struct, frozen=True):
    """The defaults are the kubelet's behaviour: all attempts at once, each for as long as the client waits."""

    single_flight: bool = False
    """Start no attempt of a worker while an earlier call of the same worker still hangs in the runtime."""
    max_in_flight: int | None = None
    """Attempts in flight at once, over all workers; others wait, first come, first served. None sets no limit."""
    client_deadline: float | None = None
    """Seconds after its own timeout at which an attempt is given up. None means the client's request timeout."""
    starved_share: float = 0.5
    """An attempt that probelet itself gives up is starved if the event loop was late by more than this share of the
    wait."""

    @property
    def let_the_engine_enter(self) -> bool:
        """Whether the engine may give attempts to the helper without being asked (``execMode: direct``): it knows
        nothing of turns and of calls that hang. A deadline of the client does not matter, because the helper ends each
        command at its timeout."""
        return self.max_in_flight is None and not self.single_flight
