"""Reads the files of this folder."""

from dataclasses import dataclass
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Selection:
    """Regular expressions of ginkgo."""

    focus: tuple[str, ...]
    skip: tuple[str, ...]

    def flags(self) -> list[str]:
        return [f"--focus={one}" for one in self.focus] + [f"--skip={one}" for one in self.skip]


def selection() -> Selection:
    """All files together."""
    files = [yaml.safe_load(path.read_text()) for path in sorted(FOLDER.glob("*.yaml"))]
    focus, skip = ([word for file in files for word in file[key]] for key in ("focus", "skip"))
    return Selection(tuple(focus), tuple(skip))
