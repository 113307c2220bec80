"""A copy of the engine's cached results, kept change by change, for callers that list or follow them."""

from collections.abc import AsyncIterator, Iterator
from typing import Final

from probelet._rust import Update
from probelet.service.limit import CHANGES_KEPT, RESULTS_PER_MESSAGE
from probelet.service.reader import Readers
from probelet.service.v1 import prober_pb2

PROBE_TYPES: Final = {
    "startup": prober_pb2.STARTUP,
    "readiness": prober_pb2.READINESS,
    "liveness": prober_pb2.LIVENESS,
}
RESULTS: Final = {
    None: prober_pb2.RESULT_UNSPECIFIED,
    "Success": prober_pb2.SUCCESS,
    "Failure": prober_pb2.FAILURE,
    "Unknown": prober_pb2.UNKNOWN,
}

Change = tuple[int, prober_pb2.ContainerResult]


class Results:
    """``sequence`` is the number of the last change."""

    def __init__(self) -> None:
        self.sequence = 0
        self.resets = 0
        """How often a reader was too slow and got all results again."""
        self._known: dict[tuple[str, str], prober_pb2.ContainerResult] = {}
        self._readers: Readers[Change] = Readers(CHANGES_KEPT)

    def has(self, update: Update) -> bool:
        """Whether a result of this container and type is known."""
        return (update.probe_type, update.container_id) in self._known

    def change(self, update: Update) -> None:
        """Takes a result that is new, has changed, or is removed."""
        self.sequence += 1
        key = (update.probe_type, update.container_id)
        result = prober_pb2.ContainerResult(
            probe_type=PROBE_TYPES[update.probe_type],
            container_id=update.container_id,
            pod_uid=update.pod_uid,
            result=RESULTS[update.result],
        )
        if update.result is None:
            self._known.pop(key, None)
        else:
            self._known[key] = result
        self._readers.put((self.sequence, result))

    def all(self) -> list[prober_pb2.ContainerResult]:
        """Every cached result."""
        return list(self._known.values())

    async def follow(self) -> AsyncIterator[prober_pb2.WatchResultsResponse]:
        """Every cached result, then every change. A reader that was too slow gets every cached result again."""
        with self._readers.reader() as reader:
            seen = self.sequence
            for message in self._snapshot():
                yield message
            while True:
                changes, lost = await reader.get()
                if lost:
                    self.resets += 1
                    seen = self.sequence
                    for message in self._snapshot():
                        yield message
                for sequence, result in changes:
                    if sequence > seen:
                        yield prober_pb2.WatchResultsResponse(sequence=sequence, results=[result])

    def _snapshot(self) -> Iterator[prober_pb2.WatchResultsResponse]:
        """Messages with every result of this moment, however slowly they are sent."""
        sequence, known = self.sequence, self.all()
        for start in range(0, max(1, len(known)), RESULTS_PER_MESSAGE):
            end = start + RESULTS_PER_MESSAGE
            yield prober_pb2.WatchResultsResponse(
                sequence=sequence, reset=start == 0, more=end < len(known), results=known[start:end]
            )
