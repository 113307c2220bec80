"""Where the helper's program is."""

import os
import sys
from pathlib import Path
from typing import Final

PROGRAM: Final = "probelet-enter"
_BUILD: Final = Path(__file__).parents[5] / "build"
"""The folder of built programs, if this module runs from a checkout."""


def helper_program() -> Path | None:
    """The program beside the interpreter or in a checkout; None if there is none. PATH is not asked, because root runs
    what is found."""
    for folder in (Path(sys.executable).parent, _BUILD):
        if os.access(folder / PROGRAM, os.X_OK):
            return folder / PROGRAM
    return None
