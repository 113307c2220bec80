"""Replay: recordings of the kubelet's prober played through probelet's production core."""

from .difference import Difference, compare
from .play import play
from .reader import load
from .recording import Recording

__all__ = ["Difference", "Recording", "compare", "load", "play"]
