"""Replay: plays recordings of the kubelet's prober through probelet's production core."""

from probelet_conformance.difference import Difference, compare
from probelet_conformance.play import play
from probelet_conformance.reader import load
from probelet_conformance.recording import Recording

__all__ = ["Difference", "Recording", "compare", "load", "play"]
