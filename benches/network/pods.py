"""The hundred pods that are probed: a namespace each, on a bridge like a node's, and a loopback address each."""

import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from probelet.runtime.embedded.isolation.bridge import Bridge, make_bridge, remove_bridge
from probelet.runtime.embedded.isolation.ip_command import ip
from probelet.runtime.embedded.isolation.namespace import Namespace, new_namespace, within

PODS: Final = 100
PORT: Final = 8080
BACKLOG: Final = 1024
SIOCSIFFLAGS: Final = 0x8914
IFF_UP: Final = 1


@dataclass(frozen=True)
class Target:
    """One pod."""

    namespace: Namespace
    ip: str
    """Its address, over a veth pair."""
    loopback: str
    """An address of this machine at which the same server answers."""


@contextmanager
def pods() -> Iterator[tuple[list[Target], list[socket.socket]]]:
    """The pods, and their listening sockets. The bridge is removed at the end, the namespaces with the process."""
    root = Path(f"/nonexistent/probelet-bench-network-{os.getpid()}")
    bridge = make_bridge(root)
    try:
        targets, listeners = [], []
        for number in range(PODS):
            target, inside = _pod(bridge, number)
            targets.append(target)
            listeners += [inside, socket.create_server((target.loopback, PORT), backlog=BACKLOG)]
        yield targets, listeners
    finally:
        remove_bridge(root)


def _pod(bridge: Bridge, number: int) -> tuple[Target, socket.socket]:
    namespace, veth = new_namespace(), f"plt{bridge.tag}-{number}"
    target = Target(namespace, str(bridge.network[number + 2]), f"127.77.0.{number + 1}")
    ip("link", "add", veth, "type", "veth", "peer", "name", "eth0", "netns", namespace.path)
    ip("link", "set", veth, "master", bridge.name, "up")
    with within(namespace):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            fcntl.ioctl(asked, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))
        ip("address", "add", f"{target.ip}/{bridge.network.prefixlen}", "dev", "eth0")
        ip("link", "set", "eth0", "up")
        return target, socket.create_server(("0.0.0.0", PORT), backlog=BACKLOG)
