"""The cost of a history: what it adds to a worker's run in the core, and the bytes of a worker.

``benches/rust/remembered.rs`` measures both sides in turns within one process. The instructions, which are the same on
a busy machine, come from callgrind where there is one.
"""

import json
import shutil
import subprocess
from typing import Any, Final

from benches.profile.instructions import TIMES, count, per_time, program

ROW: Final = "attempt remembered in a history"
"""The row of ``make bench-instructions``."""


def history() -> dict[str, Any]:
    """The figures."""
    measured = subprocess.run([program("remembered")], stdout=subprocess.PIPE, text=True, check=True).stdout
    found: dict[str, Any] = json.loads(measured)
    if shutil.which("valgrind") is not None:
        executable = program("instructions")
        fewer, more = (count(executable, ROW, times) for times in (TIMES, 2 * TIMES))
        found["instructions"] = per_time(fewer, more, TIMES)
    return found
