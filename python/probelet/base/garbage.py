"""How often the garbage collector looks for cycles: seldom while a process begins, as Python does once it serves."""

import gc
from typing import Final

_OF_PYTHON: Final = gc.get_threshold()
_WHILE_IT_BEGINS: Final = 200_000
"""All modules of ``run`` make fewer objects than this in one generation, and nearly all of them stay."""


def collect_seldom() -> None:
    """For a process that imports: to search its modules for garbage again and again is a tenth of the start."""
    gc.set_threshold(_WHILE_IT_BEGINS, *_OF_PYTHON[1:])


def collect_as_usual() -> None:
    """For a process that serves from now on. The collector no longer searches the objects that exist already."""
    gc.freeze()
    gc.set_threshold(*_OF_PYTHON)
