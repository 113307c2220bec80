"""The times in which a container was not ready: real ones, and those of a play."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from probelet.lab.recording import Life, Result

NEVER = 2**62
"""Later than anything."""


@dataclass(frozen=True)
class Outage:
    """From the result that took a container out of service to the one that brought it back.

    ``to_us`` is None if none did before the end of what is known.
    """

    from_us: int
    to_us: int | None

    def overlaps(self, other: "Outage") -> bool:
        """Whether there is a moment that both have."""
        return self.from_us < (other.to_us or NEVER) and other.from_us < (self.to_us or NEVER)


def outages(results: Iterable[Result], life: Life, known_until: int) -> list[Outage]:
    """The outages of a container after it was first ready, as far as they began before ``known_until``."""
    found: list[Outage] = []
    since: int | None = None
    was_ready = False
    for at_us, is_ready in _changes(results, life):
        if is_ready:
            if since is not None:
                found.append(Outage(since, at_us))
            was_ready, since = True, None
        elif was_ready and since is None and at_us < min(known_until, life.ended_us or NEVER):
            since = at_us
    if since is not None:
        found.append(Outage(since, None))
    return [outage if (outage.to_us or 0) < known_until else Outage(outage.from_us, None) for outage in found]


def first_ready(results: Iterable[Result], life: Life, known_until: int) -> int | None:
    """When the container was first ready, if that was before ``known_until``."""
    return next((at_us for at_us, is_ready in _changes(results, life) if is_ready and at_us < known_until), None)


def _changes(results: Iterable[Result], life: Life) -> Iterator[tuple[int, bool]]:
    for result in results:
        if result.type == "readiness" and result.container_id == life.container_id:
            yield result.at_us, result.result == "Success"


def paired(real: Sequence[Outage], played: Sequence[Outage]) -> list[tuple[Outage | None, Outage | None]]:
    """Each real outage with the played one that overlaps it, and the outages that none overlaps."""
    left = list(played)
    pairs: list[tuple[Outage | None, Outage | None]] = []
    for outage in real:
        match = next((other for other in left if outage.overlaps(other)), None)
        if match is not None:
            left.remove(match)
        pairs.append((outage, match))
    pairs += [(None, outage) for outage in left]
    return sorted(pairs, key=lambda pair: min(each.from_us for each in pair if each is not None))
