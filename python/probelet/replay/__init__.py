"""Replay: plays recordings of the kubelet's prober through probelet's production core."""

from probelet.replay.difference import Difference, compare
from probelet.replay.play import play
from probelet.replay.reader import load
from probelet.replay.recording import Recording

__all__ = ["Difference", "Recording", "compare", "load", "play"]
