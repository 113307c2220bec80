"""Gives each pod a namespace on the runtime's bridge."""

import asyncio
import os
import shlex
from collections import deque
from collections.abc import Sequence

import msgspec

from probelet.runtime.cri import errors
from probelet.runtime.embedded.child.spawn import spawn
from probelet.runtime.embedded.host import Host
from probelet.runtime.embedded.isolation.bridge import Bridge
from probelet.runtime.embedded.isolation.ip_command import first_line, ip_program
from probelet.runtime.embedded.isolation.namespace import Namespace, new_namespace
from probelet.runtime.embedded.pod.network import PodNetwork

ERROR_BYTES_MAX = 4096
"""How much of what ip writes is read."""


class _Pod(msgspec.Struct, frozen=True):
    index: int
    veth: str


class NamespaceNetworks:
    """The networks of pods with ``--isolate namespace``."""

    def __init__(self, host: Host, bridge: Bridge) -> None:
        self._host = host
        self._bridge = bridge
        self._ip = ip_program()
        # The address that was free for the longest time is used next. The first two are the network's and the bridge's.
        self._free = deque(range(2, bridge.network.num_addresses - 1))
        self._pods: dict[str, _Pod] = {}

    async def attach(self, pod: str) -> PodNetwork:
        """A namespace with lo, eth0 and a default route. Raises ResourceExhausted or RuntimeRefused."""
        if not self._free:
            raise errors.ResourceExhausted(f"{len(self._pods)} pods have a namespace: the bridge takes no more")
        index = self._free.popleft()
        address, veth = str(self._bridge.network[index]), f"plt{self._bridge.tag}-{index}"
        self._pods[address] = _Pod(index, veth)
        network = PodNetwork(address, self._new_namespace(address), self._bridge.host_ip)
        assert network.namespace is not None
        try:
            await self._run(
                None,
                ("link", "add", veth, "type", "veth", "peer", "name", "eth0", "netns", network.namespace.path),
                ("link", "set", veth, "master", self._bridge.name, "up"),
            )
            await self._run(
                network.namespace,
                ("link", "set", "lo", "up"),
                ("address", "add", f"{address}/{self._bridge.network.prefixlen}", "dev", "eth0"),
                ("link", "set", "eth0", "up"),
                ("route", "add", "default", "via", self._bridge.host_ip),
            )
        except BaseException:
            await self.detach(network)
            raise
        return network

    def _new_namespace(self, address: str) -> Namespace:
        try:
            return new_namespace()
        except OSError as error:
            self._free.append(self._pods.pop(address).index)
            raise errors.RuntimeRefused(f"a network namespace cannot be made: {error.strerror}") from None

    async def detach(self, network: PodNetwork) -> None:
        """Removes the veth pair, lets go of the namespace, and returns the address."""
        pod = self._pods.pop(network.ip, None)
        if pod is None or network.namespace is None:
            return
        try:
            await self._run(None, ("link", "delete", pod.veth))
        except errors.RuntimeRefused:
            # The pair was never made, or somebody else has removed it.
            pass
        finally:
            network.namespace.close()
            self._free.append(pod.index)

    async def _run(self, namespace: Namespace | None, *commands: Sequence[str]) -> None:
        """Runs ip for each command until one fails. Raises RuntimeRefused with ip's words."""
        script = " && ".join(shlex.join((self._ip, *command)) for command in commands)
        output = os.memfd_create("ip")
        try:
            pid = spawn(("sh", "-c", script), {b"PATH": os.defpath.encode()}, "", output, output, namespace)
            ended: asyncio.Future[int] = self._host.loop.create_future()
            self._host.reaper.watch(pid, lambda code: None if ended.done() else ended.set_result(code))
            if await ended:
                raise errors.RuntimeRefused(f"a pod's network cannot be made: {_words(output)}")
        finally:
            os.close(output)


def _words(output: int) -> str:
    return first_line(os.pread(output, ERROR_BYTES_MAX, 0))
