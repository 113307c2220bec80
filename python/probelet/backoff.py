"""The model of crash-loop back-off: any curve, exactly, with the same start decision as the live manager.

restarts(Curve.parse("1s/60s"), count=10)
load([Crowd(Curve.parse("1s/60s"), containers=110)], window_ns=300 * SECOND)
"""

from probelet.lab.backoff import REDUCED, TODAY, Crowd, Curve, CurveError, Life, Load, Restart, load, restarts

__all__ = ["REDUCED", "TODAY", "Crowd", "Curve", "CurveError", "Life", "Load", "Restart", "load", "restarts"]
