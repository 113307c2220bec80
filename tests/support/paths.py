"""Where the tree keeps what several tests read."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
TRACES = ROOT / "tests" / "kubelet" / "traces"
"""Recordings of the kubelet's prober that were handed out; ``GENERATED`` are those of ``make record``."""
GENERATED = ROOT / "tests" / "kubelet" / "generated"
HANDLER_CASES = ROOT / "tests" / "handlers" / "recorded"
