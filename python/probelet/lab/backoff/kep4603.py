"""Every number of KEP-4603 ("Tune CrashLoopBackoff", its 1.32 design), derived from the model.

``says`` quotes the KEP; every other number comes from the model. The counts of restarts follow the KEP: of a container
that crashes at once, without a free restart, unless a claim assumes otherwise.
"""

from collections.abc import Iterator
from typing import Final

from probelet.lab.backoff.claim import Claim, Figure, Reading
from probelet.lab.backoff.curve import REDUCED, TODAY, seconds
from probelet.lab.backoff.figures import FLAT, RAPID, crossing
from probelet.lab.backoff.load import REQUESTS_PER_RESTART
from probelet.lab.backoff.sums import count, delays, excess, times, windows

PODS: Final = 110
"""KEP-4603: "a hypothetical node with the default maximum 110 pods"."""

FIVE_MINUTES: Final = 300
LATER: Final = 6000
"""A time by which every curve has reached its maximum."""

OLD, NEW, MIN = "10/300", "1/60", "1/1"


def claims() -> list[Claim]:
    """All claims, in the order of the text."""
    return [*_new_default(), *_requests(), *_per_node(), *_examples(), *_figures(), *_alternatives(), *_others()]


def _new_default() -> Iterator[Claim]:
    first = excess(NEW, 0, FIVE_MINUTES)
    yield Claim(
        "1",
        "5 excess restarts per pod in the first five minutes",
        5,
        [Reading(first)],
        f"{count(NEW, 0, FIVE_MINUTES)} less {count(OLD, 0, FIVE_MINUTES)}; as shipped, with the free restart, "
        f"{_shipped(NEW, FIVE_MINUTES)} less {_shipped(OLD, FIVE_MINUTES)}",
    )
    half_open = excess(NEW, 0, 30, edges="[)")
    closed = excess(NEW, 0, 30, edges="[]")
    yield Claim(
        "2",
        "the first 3 excess in the first 30 seconds",
        3,
        [Reading(closed), Reading(half_open, "the 30th second itself does not count")],
        f"today's second restart comes exactly then; with it the excess is {closed}",
    )
    yield Claim(
        "3",
        "and the last 2 between 150 and 300 seconds",
        2,
        [Reading(excess(NEW, 150, 300))],
        f"at {_list(at for at in times(NEW, 300) if at > 150)}s; from 30 to 150 s the excess is "
        f"{excess(NEW, 30, 150, edges='[]')}",
    )
    new, old = (count(name, LATER, LATER + FIVE_MINUTES) for name in (NEW, OLD))
    lives = [FIVE_MINUTES / (10 + curve.max_ns / 1e9) for curve in (REDUCED, TODAY)]
    yield Claim(
        "4",
        "an excess 5 restarts every five minutes",
        5,
        [Reading(new - old)],
        f"{new} at a max of {seconds(REDUCED.max_ns)} s, with today's {old} taken off, leave {new - old}; "
        f"{lives[0] - lives[1]:.1f} if each life runs 10 s",
    )


def _requests() -> Iterator[Claim]:
    yield Claim(
        "5",
        "5 obvious /pods status updates for each restart",
        5,
        [],
        "read off the kubelet's code; `probelet stress` counts the writes of a node",
    )
    each = PODS * REQUESTS_PER_RESTART
    slow = each * count("10/10", LATER, LATER + 10)
    fast = each * count(MIN, LATER, LATER + 10)
    real, shipped = each * count(NEW, 0, 10), each * _shipped(NEW, 10)
    yield Claim(
        "6", "~550 requests/10s of 110 pods in a 10s back-off", 550, [Reading(slow)], f"{PODS} x {REQUESTS_PER_RESTART}"
    )
    constant = "every delay is 1 s (the curve 1/1)"
    first = f"on the doubling 1/60 the first 10 s hold {count(NEW, 0, 10)} restarts, as shipped"
    first += f" {_shipped(NEW, 10)}"
    yield Claim(
        "7",
        "~5500 requests/10s at its fastest period",
        5500,
        [Reading(real), Reading(fast, constant)],
        f"{first}: {real:,} requests, as shipped {shipped:,}",
    )
    yield Claim(
        "8",
        "which is 10x",
        10,
        [Reading(real / slow), Reading(fast / slow, constant)],
        f"{first}: {real / slow:g}x, as shipped {shipped / slow:g}x",
    )
    more, steady = excess(NEW, 0, FIVE_MINUTES), excess(NEW, LATER, LATER + FIVE_MINUTES)
    per = REQUESTS_PER_RESTART
    yield Claim(
        "9",
        "25 excess transitions per pod and 2750 per node every five minutes",
        [25, 2750],
        [
            Reading([steady * per, steady * per * PODS]),
            Reading([more * per, more * per * PODS], "they are the first five minutes"),
        ],
        f"{more} x {per} and that x {PODS}; later ones have {steady * per} and {steady * per * PODS:,}",
    )


def _per_node() -> Iterator[Claim]:
    first, odd = excess(MIN, 0, FIVE_MINUTES), excess(MIN, 0, FIVE_MINUTES + 10)
    yield Claim(
        "10",
        "305 excess restarts within the first 5 minutes at a max of 1s",
        305,
        [Reading(first), Reading(odd, f"the window is {FIVE_MINUTES + 10} s")],
        f"{count(MIN, 0, FIVE_MINUTES + 10)} less {count(OLD, 0, FIVE_MINUTES + 10)}; "
        f"in {FIVE_MINUTES} s it is {count(MIN, 0, FIVE_MINUTES)} less {count(OLD, 0, FIVE_MINUTES)}, {first}",
    )
    new, old = (count(name, LATER, LATER + FIVE_MINUTES) for name in (MIN, OLD))
    later = new - old
    yield Claim(
        "11",
        "310 excess restarts every 5 minutes after that",
        310,
        [Reading(later)],
        f"{FIVE_MINUTES} s hold {new} of them, less {old} of today's: {later}; "
        f"{count(MIN, LATER, LATER + 310)} is a window of 310 s with nothing taken off",
    )
    per = REQUESTS_PER_RESTART
    printed = [310 * per, 310 * per * PODS]
    right = [later * per, later * per * PODS]
    yield Claim(
        "12",
        "~1550 transitions per pod and 170,500 per node every five minutes",
        [1550, 170_500],
        [Reading(_figures_of(right)), Reading(_figures_of(printed), "the 310 of claim 11 is taken as it is")],
        f"with {later} they are {right[0]:,} and {right[1]:,}",
    )
    yield Claim(
        "13",
        "~568 requests/10s",
        568,
        [Reading(printed[1] * 10 / FIVE_MINUTES)],
        f"{printed[1]:,} in {FIVE_MINUTES} s are {printed[1] / FIVE_MINUTES:.0f} a second, "
        f"{printed[1] * 10 / FIVE_MINUTES:.0f} in 10 s; with claim 11 put right {right[1] / FIVE_MINUTES:.0f} a second",
    )


def _examples() -> Iterator[Claim]:
    half_hour = 1800
    literal = _shipped(OLD, half_hour, run=9 * 3600 + 59 * 60 + 59)
    meant = _shipped(OLD, half_hour, run=9 * 60 + 59)
    yield Claim(
        "14",
        "a container that exits after 9:59:59 restarts twice in the first 30 minutes",
        2,
        [Reading(literal), Reading(meant, "9:59:59 means 9 min 59 s")],
        f"read as hours it is {literal}",
    )
    advertised, shipped = "no restart is free, as advertised", "the first restart is free, as shipped"
    for number, says, published, until in (
        ("15a", "crashing every 10 seconds, about 10 restarts in the first 30 minutes", 10, half_hour),
        ("15b", "the first four restarts of them in the first 5 minutes", 4, FIVE_MINUTES),
    ):
        as_said = count(OLD, 0, until, run=10)
        as_is = _shipped(OLD, until, run=10)
        yield Claim(
            number,
            says,
            published,
            [Reading(as_said, advertised), Reading(as_is, shipped)],
            f"advertised {as_said}, shipped {as_is}; 15a and 15b hold under different ones",
        )
    yield Claim(
        "16",
        "today the first restart is within 10s, the second within 30s, the third within 70s",
        [10, 30, 70],
        [Reading(_figures_of(times(OLD, 70)))],
        f"as shipped {_list(times(OLD, 30, free=True))} s",
    )
    yield Claim(
        "17",
        "from 1s it is 3, 1 and 2 restarts in those windows",
        [3, 1, 2],
        [Reading(windows("1/300")[:3])],
        f"at {_list(times('1/300', 70))} s",
    )


def _figures() -> Iterator[Claim]:
    today = windows(OLD)
    for number, name, says, published in (
        ("18a", "1/300", "3 excess restarts per back-off lifetime from 1s", 3),
        ("18b", "25ms/300s", "7 excess restarts per back-off lifetime from 25ms", 7),
    ):
        found = windows(name)
        more = sum(found) - sum(today)
        detail = f"the windows hold {_list(found)}, today's {_list(today)}: {more} more"
        yield Claim(number, says, published, [Reading(more)], detail)
    found = windows("1/30")
    by_window = [there - here for there, here in zip(found, today, strict=True)]
    yield Claim(
        "19",
        "1s/30s: 2, 1, 0, 3 and 4 excess restarts in the windows, 10 in total",
        [2, 1, 0, 3, 4, 10],
        [Reading([*by_window, sum(by_window)])],
        f"the windows hold {_list(found)}: {_list(by_window)} more than today, {sum(by_window)} in total",
    )
    for number, name, bars in (
        ("19a", "250ms/300s", [5, 1, 2, 1, 1]),
        ("19b", "25ms/300s", [7, 2, 1, 1, 1]),
        ("19c", "10/60", [1, 1, 1, 1, 3]),
        ("19d", "10/30", [1, 2, 1, 3, 5]),
        ("19e", "1/60", [3, 2, 1, 1, 3]),
    ):
        found = windows(name)
        yield Claim(
            number,
            f"the picture's bars of {name}: {_list(bars)}",
            _figures_of(bars),
            [Reading(found)],
            f"the windows hold {_list(found)}",
        )


def _alternatives() -> Iterator[Claim]:
    before = delays("1/300", 5)
    catch_up = 600 - sum(before)
    yield Claim(
        "20",
        "a catch-up delay of 569 seconds on the 6th retry, almost 9.5 minutes",
        569,
        [Reading(catch_up)],
        f"10 min less {_list(before)} s are {catch_up:g} s, {catch_up / 60:.2f} min",
    )
    yield Claim(
        "21",
        "the reset would fall to 2 minutes, and to 2 seconds at the least max",
        [120, 2],
        [Reading([2 * REDUCED.max_ns / 1e9, 2 * min(delays(MIN, 2))])],
        "the old rule is twice the max",
    )
    meet = crossing(RAPID, FLAT)
    yield Claim(
        "21a",
        "a Rapid failure restarts earlier than a success at a flat rate only at first",
        "at first",
        [Reading("at first" if 2 < meet < 12 else "always")],
        f"up to the start number {meet - 1}; from {meet} on it is the other way round",
    )


def _others() -> Iterator[Claim]:
    measured = "a measurement on somebody's cluster; `probelet stress` makes one here"
    yield Claim("22", "/pods peaks at the client's limit of 5 QPS, then ~2 QPS", [5, 2], [], measured)
    yield Claim("23", "runtime CPU x10, API server CPU x2, kubelet CPU x2", [10, 2, 2], [], measured)
    exits, starts = [116, 124, 145], [118, 140, 171]
    waited = [start - exit_ for exit_, start in zip(exits, starts, strict=True)]
    due = delays(OLD, len(waited), free=True)
    yield Claim(
        "24",
        "a watched pod starts at 118s, 140s and 171s after exits at 116s, 124s and 145s",
        _figures_of(waited),
        [Reading(due)],
        f"it waited {_list(waited)} s for delays of {_list(due)} s: the first restart was free, none was early",
        agrees=_not_early,
    )
    formula = [0, *(10 * 2 ** (n - 2) for n in range(2, 7))]
    shipped = delays(OLD, 7, free=True)
    yield Claim(
        "25",
        "0 seconds before the first restart, 10 before the second, 10 * 2^(n-2) before the nth",
        _figures_of(formula),
        [Reading(shipped[:-1])],
        f"up to the max: before the 7th it is {shipped[-1]:g} s",
    )
    yield Claim(
        "26",
        "volumes are waited for up to 2 minutes, unmounted within 2 minutes 3 seconds",
        [120, 123],
        [],
        "constants of the kubelet that no curve changes",
    )
    yield Claim(
        "27",
        "the reset compares to a flat rate of 300 seconds",
        300,
        [Reading(TODAY.reset_ns / 1e9)],
        f"the kubelet has {TODAY.reset_ns / 1e9:g} s, as the KEP's own summary says",
    )
    wishes = {"success": 22, "early recovery": 19, "late recovery": 6}
    least = min(wishes, key=lambda wish: wishes[wish])
    yield Claim(
        "28",
        "early recovery is the least requested (22 for success, 19 for early, 6 for late recovery)",
        "early recovery",
        [Reading(least)],
        f"{least} has {wishes[least]}",
    )


def _shipped(name: str, until: float, *, run: float = 0) -> int:
    """The number of restarts up to ``until`` as shipped, including the free one."""
    return len(times(name, until, run=run, free=True))


def _figures_of(numbers: "list[int] | list[float]") -> Figure:
    return [float(number) for number in numbers]


def _list(numbers: "Iterator[float] | list[float] | list[int]") -> str:
    return ", ".join(f"{number:g}" for number in numbers)


def _not_early(waited: Figure, due: Figure) -> bool:
    assert isinstance(waited, list)
    assert isinstance(due, list)
    return all(there >= least for there, least in zip(waited, due, strict=True))
