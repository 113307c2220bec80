"""The Container Runtime Interface: a client for any CRI v1 runtime, and an embedded runtime (``cri.process``)."""

from probelet.runtime.cri import errors
from probelet.runtime.cri.client import ContainerEvents, RuntimeClient

__all__ = ["ContainerEvents", "RuntimeClient", "errors"]
