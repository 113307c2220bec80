"""Compares what really happened to a pod with its plays."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from probelet.base.exposition.timestamp import rfc3339
from probelet.lab.recording import Kill, Life, Played, RecordedPod, Result
from probelet.lab.whatif.document import OutageRow, Outcome, RestartRow, StartRow
from probelet.lab.whatif.outages import NEVER, Outage, first_ready, outages, paired

SAME_US = 1_000
"""Moments that are closer are one."""


@dataclass(frozen=True)
class Compared:
    """A pod and its plays: with containers that are well where nobody knows, and with such that fail there. With an
    assumption both are one play."""

    pod: RecordedPod
    healthy: Played
    failing: Played
    waits: Mapping[str, str] = field(default_factory=dict)
    """The incident of each kill that waits, in words, by the container's ID."""

    @property
    def name(self) -> str:
        """``namespace/name``."""
        return f"{self.pod.namespace}/{self.pod.name}"

    def restarts(self) -> Iterator[tuple[int, RestartRow]]:
        """The containers that a probe ended, each with the first moment that matters."""
        for life in self.pod.lives:
            real, healthy, failing = self._kills(life)
            moments = [kill.at_us for kill in (real, healthy, failing) if kill is not None]
            if not moments:
                continue
            is_known = _at(healthy) == _at(failing)
            instead = healthy if is_known else None
            yield (
                min(moments),
                RestartRow(
                    pod=self.name,
                    container=life.container,
                    container_id=life.container_id,
                    outcome=_outcome(real, healthy, failing),
                    really=_time(_at(real)),
                    really_by=None if real is None else real.type,
                    instead=_time(_at(instead)),
                    instead_by=None if instead is None else instead.type,
                    unknown_after=None if is_known else _time(min(moments)),
                    if_failing=_time(_at(failing)),
                    if_healthy=_time(_at(healthy)),
                    waits_for=self.waits.get(life.container_id),
                ),
            )

    def outages(self) -> Iterator[tuple[int, OutageRow]]:
        """The times not ready, as far as they are known."""
        for life in self.pod.lives:
            until = self._known_until(life)
            real = outages(self.pod.results, life, until)
            healthy = outages(self.healthy.results, life, until)
            failing = outages(self.failing.results, life, until)
            for really, instead in paired(real, healthy):
                moment = min(each.from_us for each in (really, instead) if each is not None)
                is_known = instead is None or any(_same(instead.from_us, other.from_us) for other in failing)
                yield moment, self._outage(life, really, instead, is_known=is_known)
            known = {outage.from_us for outage in (*real, *healthy)}
            for outage in failing:
                alone = Outage(outage.from_us, outage.to_us)
                if outage.from_us not in known and not any(alone.overlaps(other) for other in (*real, *healthy)):
                    yield outage.from_us, self._outage(life, None, outage, is_known=False)

    def starts(self) -> Iterator[StartRow]:
        """The containers that are first ready at another time."""
        for life in self.pod.lives:
            until = self._known_until(life)
            really = first_ready(self.pod.results, life, until)
            instead = first_ready(self.healthy.results, life, until)
            if not _same(really, instead) and _same(instead, first_ready(self.failing.results, life, until)):
                yield StartRow(
                    pod=self.name,
                    container=life.container,
                    container_id=life.container_id,
                    really=_time(really),
                    instead=_time(instead),
                )

    def _kills(self, life: Life) -> tuple[Kill | None, Kill | None, Kill | None]:
        lists = (self.pod.kills, self.healthy.kills, self.failing.kills)
        real, healthy, failing = (
            next((kill for kill in kills if kill.container_id == life.container_id), None) for kills in lists
        )
        return real, healthy, failing

    def _known_until(self, life: Life) -> int:
        """The first verdict that ends the container, here or there: its life is another one from there on."""
        return min((kill.at_us for kill in self._kills(life) if kill is not None), default=NEVER)

    def _outage(self, life: Life, really: Outage | None, instead: Outage | None, *, is_known: bool) -> OutageRow:
        noticed = None
        outcome: Outcome
        if really is None:
            outcome = "added"
        elif instead is None:
            outcome = "avoided"
        else:
            noticed = (instead.from_us - really.from_us) / 1e6
            same = _same(really.from_us, instead.from_us)
            outcome = "same" if same else "earlier" if noticed < 0 else "later"
        return OutageRow(
            pod=self.name,
            container=life.container,
            container_id=life.container_id,
            outcome=outcome if is_known else "unknown",
            really_from=None if really is None else _time(really.from_us),
            really_to=None if really is None else _time(really.to_us),
            instead_from=None if instead is None else _time(instead.from_us),
            instead_to=None if instead is None else _time(instead.to_us),
            noticed_seconds=None if noticed is None else round(noticed, 3),
        )


def differences(real: list[Result], played: list[Result], tolerance_us: int = 50_000) -> int:
    """How many results differ, or came at another time; the prober's own lateness is no difference."""

    def key(result: Result) -> tuple[str, str, int]:
        return result.type, result.container_id, result.at_us

    ours, theirs = sorted(real, key=key), sorted(played, key=key)
    pairs = zip(ours, theirs, strict=False)
    unlike = sum(
        (one.type, one.container_id, one.result) != (other.type, other.container_id, other.result)
        or abs(one.at_us - other.at_us) > tolerance_us
        for one, other in pairs
    )
    return unlike + abs(len(ours) - len(theirs))


def _outcome(real: Kill | None, healthy: Kill | None, failing: Kill | None) -> Outcome:
    if real is None:
        return "added" if _at(healthy) == _at(failing) else "unknown"
    known = [kill.at_us for kill in (healthy, failing) if kill is not None and kill.at_us <= real.at_us + SAME_US]
    if len(known) == 1:
        return "unknown"
    if not known:
        # It would have been alive when it was really killed.
        return "later" if healthy is not None and failing is not None else "avoided"
    return "same" if _same(known[0], real.at_us) else "earlier"


def _at(kill: Kill | None) -> int | None:
    return None if kill is None else kill.at_us


def _same(one: int | None, other: int | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= SAME_US


def _time(at_us: int | None) -> str | None:
    return None if at_us is None else rfc3339(at_us // 1_000)
