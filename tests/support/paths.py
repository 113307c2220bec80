"""Paths of the repository that several tests read, and the programs that they compile."""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
TRACES = ROOT / "tests" / "kubelet" / "traces"
"""Recordings of the kubelet's prober from the original hand-out; ``make record`` writes ``GENERATED``."""
GENERATED = ROOT / "tests" / "kubelet" / "generated"
RELEASES = ROOT / "tests" / "kubelet" / "releases"
"""Recordings of other releases than 1.36, a folder each, of what that release does otherwise."""
INSTANTS = ROOT / "tests" / "kubelet" / "instants"
"""Recordings of `tests/kubelet/recorder/instants.py`: two things in one instant, or a little apart."""
HANDLER_CASES = ROOT / "tests" / "handlers" / "recorded"


def built(program: Path, sources: Iterable[Path], build: Callable[[Path], None]) -> Path:
    """``program``, which ``build`` has written to the path that it gets, later than the last change of a source.

    Several processes may build it at once: each takes a whole one. It is built once, because to link a program takes
    seconds also if nothing has changed.
    """
    if not (program.exists() and program.stat().st_mtime > max(source.stat().st_mtime for source in sources)):
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=program.parent, prefix=f"{program.name}-") as folder:
            made = Path(folder) / program.name
            build(made)
            made.replace(program)
    return program
