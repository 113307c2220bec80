"""The network of a pod, and the two ways to set it up."""

from typing import Protocol

import msgspec

from probelet.runtime.cri import errors
from probelet.runtime.embedded.isolation.namespace import Namespace
from probelet.runtime.embedded.pod.address import AddressPool


class PodNetwork(msgspec.Struct, frozen=True):
    """The network of one pod; every field is empty on the machine's own network."""

    ip: str = ""
    """The pod's address."""
    namespace: Namespace | None = None
    """The namespace of its processes; None: the machine's."""
    host_ip: str = ""
    """An address at which the pod reaches services of the machine; empty where it reaches them at 127.0.0.1."""


ON_HOST = PodNetwork()
"""The machine's own network, as for a pod with ``hostNetwork``."""


class Networks(Protocol):
    """Gives each pod its network, and takes it back."""

    async def attach(self, pod: str) -> PodNetwork:
        """The network of a pod (``namespace/name``). Raises CriError."""

    async def detach(self, network: PodNetwork) -> None:
        """Takes back what ``attach`` gave; no process of the pod is left."""


class LoopbackNetworks:
    """Each pod has a loopback address of its own, and shares everything else with the machine."""

    def __init__(self, root: str) -> None:
        self._addresses = AddressPool(root)

    async def attach(self, pod: str) -> PodNetwork:
        """The same address each time, unless it is taken."""
        try:
            return PodNetwork(self._addresses.allocate(pod))
        except LookupError as error:
            raise errors.ResourceExhausted(str(error)) from None

    async def detach(self, network: PodNetwork) -> None:
        """Returns the address to the pool."""
        self._addresses.release(network.ip)
