"""Makes cases by number: the same seed and number give the same case on every machine."""

import functools
import itertools
from dataclasses import replace

from probelet_conformance.handlers.case import folder

from tests.handlers.differential import locations
from tests.handlers.differential.case import Answer, Case, End
from tests.handlers.differential.dice import Dice
from tests.handlers.differential.grammar import CODES, REDIRECTS, response
from tests.handlers.differential.mutation import mutated, place
from tests.support.paths import HANDLER_CASES

# Recorded servers that send more than this only repeat themselves.
RECORDED_BYTES_MAX = 65_536
HOLD_TIMEOUT_SECONDS = 1
# The buffer of Go's reader; ours must have the same size, because errors depend on it.
WINDOW_BYTES = 4096
PAD = b"P: \r\n"
LINE_FEED = 10
# A case with many faults shows only the first of them, so most cases have few or none.
WILDNESSES = [0.0, 0.0, 0.2, 0.2, 0.5, 0.5, 1.0, 2.0]


@functools.cache
def recorded() -> tuple[bytes, ...]:
    """The distinct byte strings that the servers of the recordings send over plain HTTP/1.1."""
    found = set()
    for case in (case for path in sorted(HANDLER_CASES.glob("*.jsonl")) for case in folder.load(path)):
        for listener in case.listeners if case.handler == "http" and case.speaks_plain_http else ():
            for script in listener.scripts:
                data = b"".join(step.data * step.repeat for step in script if step.op == "send")
                if 0 < len(data) <= RECORDED_BYTES_MAX:
                    found.add(data)
    return tuple(sorted(found))


def case_of(seed: int, number: int) -> Case:
    """The case with this number in the sequence of ``seed``."""
    dice = Dice(f"{seed}/{number}")
    dice.wildness = dice.pick(WILDNESSES)
    kind = dice.random()
    if kind < 0.40:
        answers = [response(dice, CODES)]
    elif kind < 0.70 and recorded():
        answers = [mutated(dice, dice.pick(recorded()), dice.randrange(1, 5)) for _ in range(dice.pick([1, 1, 1, 2]))]
    else:
        answers = redirects(dice)
    if dice.random() < 0.05:
        answers = [padded(dice, data) for data in answers]
    if dice.random() < 0.25:
        answers = [mutated(dice, data, dice.pick([0, 1, 1, 2, 3])) for data in answers]
    case = Case(tuple(Answer(parts(dice, data)) for data in answers))
    if dice.random() < 0.35:
        case = asking(dice, case)
    end = dice.random()
    if end < 0.015:
        return ending(case, End.RESET)
    if end < 0.02:
        return replace(ending(case, End.HOLD), timeout_seconds=HOLD_TIMEOUT_SECONDS)
    return case


def redirects(dice: Dice) -> list[bytes]:
    """Redirects, mostly with a response at their end; without one they loop, for the server repeats its last answer."""
    hops = [response(dice, REDIRECTS, [locations.location(dice)]) for _ in range(dice.pick([1, 1, 1, 2, 3]))]
    return hops if dice.random() < 0.1 else [*hops, response(dice, CODES)]


def asking(dice: Dice, case: Case) -> Case:
    """The case with another path, other headers, another host or another scheme in its probe."""
    if dice.random() < 0.6:
        case = replace(case, path=locations.path(dice))
    if dice.random() < 0.5:
        case = replace(case, headers=locations.headers(dice))
    if dice.random() < 0.25:
        case = replace(case, host=locations.host(dice))
    return replace(case, scheme=dice.pick(["HTTP", "HTTP", "HTTP", "http", ""]))


def parts(dice: Dice, data: bytes) -> tuple[bytes, ...]:
    """The data in one piece, or now and then in several pieces that arrive one by one."""
    if dice.random() < 0.95:
        return (data,)
    cuts = sorted({place(dice, data) for _ in range(dice.pick([1, 1, 2, 3]))} - {0, len(data)})
    return tuple(data[start:end] for start, end in itertools.pairwise([0, *cuts, len(data)]))


def padded(dice: Dice, data: bytes) -> bytes:
    """The data with a field so long that the end of a later line falls on the edge of the reader's buffer."""
    ends = [index for index, byte in enumerate(data[: 2 * WINDOW_BYTES]) if byte == LINE_FEED]
    if len(ends) < 2:
        return data
    first, wanted = ends[0] + 1, dice.pick(ends[1:])
    length = -(wanted + len(PAD)) % WINDOW_BYTES + dice.randrange(-3, 4)
    return data[:first] + PAD[:3] + b"p" * length + PAD[3:] + data[first:]


def ending(case: Case, end: End) -> Case:
    return replace(case, answers=tuple(replace(answer, end=end) for answer in case.answers))
