"""probelet: a kubelet prober subsystem of its own.

Public are

- the names of this module: ``Prober`` runs probes on real sockets, with ``ExecEnd`` for exec probes; ``Simulation`` is
  the same prober in virtual time; ``Backoff``, ``TokenBucket`` and ``TimerWheel`` are its parts; ``Probe`` and its
  handlers are Kubernetes' own;
- ``probelet.testing``, for tests of probe configurations, and the pytest fixture ``virtual_node``;
- ``probelet.virtual.cluster``, for whole workloads in virtual time, with its ``VirtualCluster`` also here;
- ``probelet.backoff``, the model of crash-loop back-off;
- ``probelet.errors``, every exception that these raise.

Every other module of the package is internal and may change in any release. A name is imported when it is first used,
so that ``import probelet`` costs next to nothing. docs/python.md has an example of each class.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probelet._rust import Backoff, ExecEnd, Simulation, TimerWheel, TokenBucket
    from probelet._rust import Engine as Prober
    from probelet.spec import ExecAction, GRPCAction, HTTPGetAction, HTTPHeader, Probe, TCPSocketAction
    from probelet.virtual.cluster import VirtualCluster

    __version__: str

__all__ = (
    "Backoff",
    "ExecAction",
    "ExecEnd",
    "GRPCAction",
    "HTTPGetAction",
    "HTTPHeader",
    "Probe",
    "Prober",
    "Simulation",
    "TCPSocketAction",
    "TimerWheel",
    "TokenBucket",
    "VirtualCluster",
    "__version__",
)

_PLACES = {
    "Backoff": ("probelet._rust", "Backoff"),
    "ExecAction": ("probelet.spec", "ExecAction"),
    "ExecEnd": ("probelet._rust", "ExecEnd"),
    "GRPCAction": ("probelet.spec", "GRPCAction"),
    "HTTPGetAction": ("probelet.spec", "HTTPGetAction"),
    "HTTPHeader": ("probelet.spec", "HTTPHeader"),
    "Probe": ("probelet.spec", "Probe"),
    "Prober": ("probelet._rust", "Engine"),
    "Simulation": ("probelet._rust", "Simulation"),
    "TCPSocketAction": ("probelet.spec", "TCPSocketAction"),
    "TimerWheel": ("probelet._rust", "TimerWheel"),
    "TokenBucket": ("probelet._rust", "TokenBucket"),
    "VirtualCluster": ("probelet.virtual.cluster", "VirtualCluster"),
}

# Deprecated names -> the names they have now (docs/versions.md).
_RENAMED = {"Cluster": "VirtualCluster"}


def __getattr__(name: str) -> object:
    if name in _RENAMED:
        # It is not kept, so that each place that uses the old name warns.
        warnings.warn(f"probelet.{name} is now probelet.{_RENAMED[name]}", DeprecationWarning, stacklevel=2)
        return __getattr__(_RENAMED[name])
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
