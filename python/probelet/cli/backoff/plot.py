"""Draws the charts of ``probelet backoff plot``."""

from collections.abc import Sequence
from pathlib import Path

from probelet.cli.exit import CliError, Exit
from probelet.cli.terminal import print_lines
from probelet.lab.backoff.figures import charts


def draw(names: Sequence[str], folder: Path, suffixes: Sequence[str]) -> int:
    """Draws the named charts, or all, and prints the path of each file."""
    known = {chart.name: chart for chart in charts()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise CliError(*(f'CHART: "{name}": the charts are {", ".join(known)}' for name in unknown))
    try:
        from probelet.lab.backoff.drawing import save
    except ImportError as error:
        raise CliError(
            f"the charts need matplotlib: {error}", code=Exit.CANNOT, hint="pip install 'probelet[plots]'"
        ) from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in names or known:
            for suffix in suffixes:
                path = folder / f"{name}.{suffix}"
                save(known[name], path)
                print_lines(str(path))
    except OSError as error:
        raise CliError(f"--out: {folder}: {error.strerror}") from error
    return Exit.GOOD
