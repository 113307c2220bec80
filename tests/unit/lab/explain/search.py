"""The search for the extremes of one configuration: phases right before and right after what matters, attempts without
length and attempts that take all of their timeout."""

from collections.abc import Callable, Iterator

from probelet.lab.explain import Timing
from probelet.spec.model.probe import ProbeType

from tests.unit.lab.explain.played import Played

Timings = dict[ProbeType, Timing]
Extremes = tuple[int | None, int | None]


def reached(timings: Timings) -> dict[tuple[ProbeType, str], Extremes]:
    """The least and the most milliseconds that the search found, by probe and name of the bound."""
    return {(probe_type, name): search(timings) for probe_type, name, search in _searches(timings)}


def _searches(timings: Timings) -> Iterator[tuple[ProbeType, str, Callable[[Timings], Extremes]]]:
    for probe_type in timings:
        yield probe_type, "first_probe", lambda timings, each=probe_type: _first(timings, each)
        if probe_type == "readiness":
            yield probe_type, "to_ready", _ready
            yield probe_type, "to_unready", lambda timings: _failing(timings, "readiness")
        if probe_type == "liveness":
            yield probe_type, "to_kill", lambda timings: _failing(timings, "liveness")
        if probe_type == ("startup" if "startup" in timings else "liveness"):
            yield probe_type, "startup_budget", lambda timings, each=probe_type: _budget(timings, each)
        if probe_type == "startup":
            yield probe_type, "to_kill", _startup_kill


def slow(timing: Timing) -> int:
    """The longest attempt that is no timeout."""
    return 1000 * timing.timeout - 1


def delay_over(timing: Timing) -> int:
    """The earliest end of the delay, where ``startedAt`` loses 999 ms; a tick at 0 would be before the status."""
    return max(1000 * timing.delay - 999, 1)


def just_missed(timing: Timing) -> int:
    """The last moment of the delay, where ``startedAt`` loses nothing."""
    return 1000 * timing.delay - 1


def _alone(timings: Timings, probe_type: ProbeType) -> Timings:
    return {probe_type: timings[probe_type]}


def _first(timings: Timings, probe_type: ProbeType) -> Extremes:
    own, startup = timings[probe_type], timings.get("startup")
    if startup is None or probe_type == "startup":
        found = [
            _first_attempt(Played(_alone(timings, probe_type), {probe_type: tick}, cut), probe_type)
            for tick, cut in ((delay_over(own), 999), (just_missed(own), 0))
        ]
        return found[0], found[1]
    both: Timings = {probe_type: own, "startup": startup}
    early = delay_over(startup)
    least = Played(both, {"startup": early, probe_type: max(early + 1, delay_over(own))}, 999)
    least.answer("startup", "success", [0])
    least.passed()
    passed = _last_pass(both, {"startup": just_missed(startup)}).passed()
    assert passed is not None
    most = _last_pass(both, {"startup": just_missed(startup), probe_type: max(passed - 1, just_missed(own))})
    most.passed()
    return _first_attempt(least, probe_type), _first_attempt(most, probe_type)


def _last_pass(timings: Timings, ticks: dict[ProbeType, int]) -> Played:
    """A container whose startup probe passes with its last attempt."""
    startup = timings["startup"]
    played = Played(timings, ticks)
    played.steps("startup", [("failure", slow(startup))] * (startup.patience - 1) + [("success", slow(startup))])
    return played


def _first_attempt(played: Played, probe_type: ProbeType) -> int:
    played.answer(probe_type, "success", [0])
    played.verdict(probe_type, "Success")
    played.until(played.now + 120_000)
    return played.records().first_attempt(probe_type)


def _budget(timings: Timings, probe_type: ProbeType) -> Extremes:
    own = timings[probe_type]
    least = Played(timings, {probe_type: delay_over(own)}, 999)
    least.answer(probe_type, "failure", [0])
    most = Played(timings, {probe_type: just_missed(own)})
    most.answer(probe_type, "failure", [slow(own)])
    return least.verdict(probe_type, "Failure"), most.verdict(probe_type, "Failure")


def _startup_kill(timings: Timings) -> Extremes:
    _, most = _budget(timings, "startup")
    played = Played(timings, {"startup": delay_over(timings["startup"])}, 999)
    played.answer("startup", "failure", [0])
    killed = played.verdict("startup", "Failure")
    assert killed is not None
    return killed - played.records().first_attempt("startup"), most


def _ready(timings: Timings) -> Extremes:
    own = timings["readiness"]
    return _least_ready(own), max(_ready_from_the_start(timings), _ready_while_failing(own), _started_late(timings))


def _least_ready(own: Timing) -> int:
    """Syncs make the attempts."""
    played = Played({"readiness": own}, {"readiness": 1})
    played.answer("readiness", "failure", [0])
    up = 1000 * (own.delay + own.period) + 10
    played.until(up)
    played.answer("readiness", "success", [0])
    for _ in range(own.successes):
        played.sync()
    ready = played.verdict("readiness", "Success")
    assert ready is not None
    return ready - up


def _ready_from_the_start(timings: Timings) -> int:
    own, startup = timings["readiness"], timings.get("startup")
    tick = just_missed(own)
    both: Timings = {"readiness": own}
    if startup is not None:
        both["startup"] = startup
        played = Played(both, {"startup": just_missed(startup)})
        played.answer("startup", "success", [slow(startup)])
        passed = played.passed()
        assert passed is not None
        tick = max(passed - 1, tick)
    played = Played(both, {"readiness": tick} | ({} if startup is None else {"startup": just_missed(startup)}))
    played.answer("readiness", "success", [slow(own)])
    if startup is not None:
        played.answer("startup", "success", [slow(startup)])
        played.passed()
    ready = played.verdict("readiness", "Success")
    assert ready is not None
    return ready


def _ready_while_failing(own: Timing) -> int:
    """The first attempt is under way at the moment, and fails."""
    begins = 1000 * (own.delay or own.period)
    played = Played({"readiness": own}, {"readiness": begins})
    played.answer("readiness", "failure", [slow(own)])
    played.until(begins + 1)
    played.answer("readiness", "success", [slow(own)])
    ready = played.verdict("readiness", "Success")
    assert ready is not None
    return ready - begins - 1


def _started_late(timings: Timings) -> int:
    """A startup attempt that fails is under way at the moment, and a readiness tick is right before its end."""
    own, startup = timings["readiness"], timings.get("startup")
    if startup is None or startup.patience == 1:
        return 0
    both: Timings = {"readiness": own, "startup": startup}

    def played(tick: int) -> tuple[Played, int, int]:
        begins = 1000 * startup.delay + 1
        found = Played(both, {"startup": begins, "readiness": tick})
        found.steps("startup", [("failure", slow(startup)), ("success", slow(startup))])
        found.answer("readiness", "success", [slow(own)])
        passed = found.passed()
        assert passed is not None
        return found, begins + 1, passed

    _, _, passed = played(0)
    found, up, _ = played(max(passed - 1, just_missed(own)))
    ready = found.verdict("readiness", "Success")
    assert ready is not None
    return ready - up


def _failing(timings: Timings, probe_type: ProbeType) -> Extremes:
    own = timings[probe_type]
    return _least_failing(own, probe_type), _most_failing(own, probe_type)


def _least_failing(own: Timing, probe_type: ProbeType) -> int:
    """Attempts without length; if an attempt may outlast its period, the first of them begins right before a tick."""
    begins = 1000 * (own.delay + 1)
    played = Played({probe_type: own}, {probe_type: begins})
    played.answer(probe_type, "success", [0])
    played.until(begins + own.successes * own.period * 1000)
    down = played.now + own.period * 1000 - 1
    if own.timeout > own.period:
        lengths = list(_lengths(own))
        played.until(down)
        played.answer(probe_type, "success", [*lengths, 0])
        down += 1 + sum(lengths) - 1
    played.until(down)
    played.answer(probe_type, "failure", [0])
    failed = played.verdict(probe_type, "Failure")
    assert failed is not None
    return failed - down


def _lengths(own: Timing) -> Iterator[int]:
    """Slow attempts, each a little longer than a period, which end 1 ms before a tick."""
    left = 1000 * own.period - 1
    while left > 0:
        beyond = min(left, slow(own) - 1000 * own.period)
        left -= beyond
        yield 1000 * own.period + beyond


def _most_failing(own: Timing, probe_type: ProbeType) -> int:
    """An attempt that succeeds is under way at the moment."""
    begins = 1000 * (own.delay + 1)
    played = Played({probe_type: own}, {probe_type: begins})
    played.answer(probe_type, "success", [0])
    down = begins + own.successes * own.period * 1000
    played.until(down - 1)
    played.answer(probe_type, "success", [slow(own)])
    played.until(down + 1)
    played.answer(probe_type, "failure", [slow(own)])
    failed = played.verdict(probe_type, "Failure")
    assert failed is not None
    return failed - down - 1
