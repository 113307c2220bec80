"""How much is fuzzed, and with what: little and always the same unless somebody asks for more."""

import os
import time
from collections.abc import Iterator

# The same inputs every time, so that the test suite's verdict depends on the code alone. `make fuzz` sets another.
SEED = int(os.environ.get("FUZZ_SEED", "1"))
# How long each test goes on; without it, as many inputs as the test says.
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
# A single input, to see it again.
ONLY = os.environ.get("FUZZ_INPUT")


def numbers(count: int) -> Iterator[int]:
    """The inputs to try: ``count``, or as many as there is time for if somebody gives it some."""
    if ONLY is not None:
        yield int(ONLY)
        return
    number, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end if SECONDS else number < count:
        yield number
        number += 1


def replay(number: int) -> str:
    """How to see an input again."""
    return f"replay with: FUZZ_SEED={SEED} FUZZ_INPUT={number} python -m pytest fuzz/manifests"
