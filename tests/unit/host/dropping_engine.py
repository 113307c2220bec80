"""An engine that says of each batch that it dropped events: a real one does after 10,000 that nobody read."""

from typing import Any

from probelet._rust import Batch, Engine


class _Dropped:
    """A batch before which ``dropped_events`` were dropped."""

    def __init__(self, batch: Batch, dropped: int) -> None:
        self.dropped_events = dropped
        self._batch = batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)


class DroppingEngine:
    """A real engine whose every batch comes after ``dropped`` events that are lost."""

    def __init__(self, engine: Engine, dropped: int) -> None:
        self.dropped = 0
        """How many the batches that were read have said, all together."""
        self._engine = engine
        self._each = dropped

    def drain(self) -> Any:
        self.dropped += self._each
        return _Dropped(self._engine.drain(), self._each)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)
