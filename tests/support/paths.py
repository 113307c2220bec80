"""Paths of the repository that several tests read."""

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
