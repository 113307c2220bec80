"""Paths of the repository that several tests read."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
TRACES = ROOT / "tests" / "kubelet" / "traces"
"""Recordings of the kubelet's prober from the original hand-out; ``make record`` writes ``GENERATED``."""
GENERATED = ROOT / "tests" / "kubelet" / "generated"
INSTANTS = ROOT / "tests" / "kubelet" / "instants"
"""Recordings of `tests/kubelet/recorder/instants.py`: two things in one instant, or a little apart."""
HANDLER_CASES = ROOT / "tests" / "handlers" / "recorded"
