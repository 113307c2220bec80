"""probelet: a kubelet prober subsystem of its own.

``Prober`` runs probes on real sockets, ``Simulation`` the same prober in virtual time; ``Backoff``, ``TokenBucket`` and
``TimerWheel`` are its parts; ``Probe`` and its handlers are Kubernetes' own. ``probelet.testing`` is for tests of probe
configurations. A name is imported when it is first used, so that ``import probelet`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probelet._rust import Backoff, ExecEnd, Simulation, TimerWheel, TokenBucket
    from probelet._rust import Engine as Prober
    from probelet.spec import ExecAction, GRPCAction, HTTPGetAction, Probe, TCPSocketAction

    __version__: str

__all__ = (
    "Backoff",
    "ExecAction",
    "ExecEnd",
    "GRPCAction",
    "HTTPGetAction",
    "Probe",
    "Prober",
    "Simulation",
    "TCPSocketAction",
    "TimerWheel",
    "TokenBucket",
    "__version__",
)

_PLACES = {
    "Backoff": ("probelet._rust", "Backoff"),
    "ExecAction": ("probelet.spec", "ExecAction"),
    "ExecEnd": ("probelet._rust", "ExecEnd"),
    "GRPCAction": ("probelet.spec", "GRPCAction"),
    "HTTPGetAction": ("probelet.spec", "HTTPGetAction"),
    "Probe": ("probelet.spec", "Probe"),
    "Prober": ("probelet._rust", "Engine"),
    "Simulation": ("probelet._rust", "Simulation"),
    "TCPSocketAction": ("probelet.spec", "TCPSocketAction"),
    "TimerWheel": ("probelet._rust", "TimerWheel"),
    "TokenBucket": ("probelet._rust", "TokenBucket"),
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        found: object = import_module("probelet._rust").version()
    elif name in _PLACES:
        module, attribute = _PLACES[name]
        found = getattr(import_module(module), attribute)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
