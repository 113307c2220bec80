"""probelet: a kubelet prober subsystem of its own."""

from probelet._rust import Backoff, Simulation, TimerWheel, TokenBucket
from probelet._rust import version as _version

__all__ = ("Backoff", "Simulation", "TimerWheel", "TokenBucket", "__version__")

__version__ = _version()
