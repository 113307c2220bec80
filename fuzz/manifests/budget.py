"""How many inputs the fuzz tests try, and which: a few, the same in every run, unless the environment asks for more."""

import os
import time
from collections.abc import Iterator

# A fixed seed, so that the test suite's verdict depends on the code alone. `make fuzz` sets another one.
SEED = int(os.environ.get("FUZZ_SEED", "1"))
# How long each test tries inputs. With 0 a test tries a fixed number of them.
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
# The number of the only input to try, to repeat a failure.
ONLY = os.environ.get("FUZZ_INPUT")


def numbers(count: int) -> Iterator[int]:
    """The numbers of the inputs to try: ``count`` of them, or as many as fit into ``SECONDS`` if that is set."""
    if ONLY is not None:
        yield int(ONLY)
        return
    number, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end if SECONDS else number < count:
        yield number
        number += 1


def replay(number: int) -> str:
    """The command that tries input ``number`` again."""
    return f"replay with: FUZZ_SEED={SEED} FUZZ_INPUT={number} python -m pytest fuzz/manifests"
