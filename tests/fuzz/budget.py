"""How long is fuzzed, and with what: short and always the same unless somebody asks for more."""

import os
import time
from collections.abc import Iterator

# The same inputs every time, so that the test suite's verdict depends on the code alone. `make fuzz` sets another.
SEED = int(os.environ.get("FUZZ_SEED", "1"))
SECONDS = float(os.environ.get("FUZZ_SECONDS", "2"))
# A single input, to see it again.
ONLY = os.environ.get("FUZZ_INPUT")


def numbers() -> Iterator[int]:
    """The inputs to try: as many as there is time for, the first one in any case."""
    if ONLY is not None:
        yield int(ONLY)
        return
    number, end = 0, time.monotonic() + SECONDS
    while number == 0 or time.monotonic() < end:
        yield number
        number += 1


def replay(number: int) -> str:
    """How to see an input again."""
    return f"replay with: FUZZ_SEED={SEED} FUZZ_INPUT={number} python -m pytest tests/fuzz"
