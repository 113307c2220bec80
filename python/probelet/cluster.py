"""The deprecated name of ``probelet.virtual.cluster`` (docs/versions.md), with the same public names."""

import warnings

from probelet.virtual.cluster import *  # noqa: F403
from probelet.virtual.cluster import VirtualCluster
from probelet.virtual.cluster import __all__ as _names

__all__ = (*_names, "Cluster")

Cluster = VirtualCluster

warnings.warn("probelet.cluster is now probelet.virtual.cluster", DeprecationWarning, stacklevel=2)
