"""Where probelet is installed, for the Python programs of its own that it starts."""

import os
from pathlib import Path
from typing import Final

PACKAGE_ROOT: Final = str(Path(__file__).parents[2])
"""The folder in which Python finds the package ``probelet``."""


def environment() -> dict[str, str]:
    """This process's environment with a ``PYTHONPATH`` that finds this very probelet first."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (PACKAGE_ROOT, os.environ.get("PYTHONPATH"))))}
