"""The Container Runtime Interface: a client for any CRI v1 runtime, and an embedded runtime (``cri.process``)."""

from probelet.cri import errors
from probelet.cri.client import ContainerEvents, RuntimeClient

__all__ = ["ContainerEvents", "RuntimeClient", "errors"]
