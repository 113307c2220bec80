"""`python -m tests.handlers.differential`: explore, or play one case again."""

import argparse
import itertools
import sys
import time
from random import SystemRandom

from tests.handlers.differential import probers
from tests.handlers.differential.arena import Arena, compare
from tests.handlers.differential.generator import case_of


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.handlers.differential", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long to explore (default: 1)")
    parser.add_argument("--seed", type=int, help="the sequence of cases (default: another one each time)")
    parser.add_argument("--case", type=int, help="play only the case of this number, and make it small if it differs")
    asked = parser.parse_args()
    try:
        program = probers.build()
    except probers.GoMissingError as error:
        parser.error(str(error))
    seed = SystemRandom().randrange(1_000_000) if asked.seed is None else asked.seed
    if asked.case is not None:
        return replay(Arena(program), seed, asked.case)
    say(f"seed {seed}")
    numbers = ((seed, number) for number in itertools.count())
    report = compare(program, numbers, until=time.monotonic() + 60 * asked.minutes)
    say(*report.lines())
    return 1 if report.differ else 0


def replay(arena: Arena, seed: int, number: int) -> int:
    """Plays one case as it is; if it differs, plays a small version of it as well."""
    case = case_of(seed, number)
    with arena:
        say(*case.lines())
        found = arena.confirmed(case)
        if not found:
            say("no difference")
            return 0
        say(*map(str, found))
        small = arena.shrunk(case, frozenset(difference.kind for difference in found))
        say("", "made small:", *small.lines(), *map(str, arena.play(small)))
    return 1


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
