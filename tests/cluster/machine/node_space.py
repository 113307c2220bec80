"""The namespaces of a further node, which are switched on and off like a machine."""

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from tests.cluster.machine.host import Host
from tests.cluster.machine.keeper import NODE_IP, PRIVATE, mounts
from tests.cluster.machine.namespaces import Namespaces
from tests.cluster.machine.program import Program, children
from tests.cluster.machine.space import Space
from tests.support import cgroup
from tests.system.containerd.machine import until

FILES = {"pid": "pid", "mount": "mnt", "net": "net", "uts": "uts"}
"""Flags of nsenter, and the files below /proc/PID/ns that they name."""

UNSHARE = (
    *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--mount", "--propagation", "private"),
    *("--net", "--uts", "--"),
)

VOLATILE = ("run", "state")
"""Folders that a machine has in memory; ``state`` is containerd's."""


class NodeSpace(Namespaces):
    """Between ``start`` and ``stop`` the node runs; both may follow each other any number of times.

    Its processes are below the first one of the cluster, so the kernel ends them with it. Its disk is a folder of the
    cluster. A link leads to the first node, which forwards between all nodes and their pods.
    """

    def __init__(self, cluster: Space, host: Host) -> None:
        super().__init__()
        self._cluster, self._host = cluster, host
        self.folder = cluster.folder / host.name
        for name in PRIVATE:
            (self.folder / name).mkdir(parents=True)
        words = [*UNSHARE, "sh", "-c", self._script()]
        # No namespace for mounts of the cluster is between: the mounts of the first node's pods are none of this one's.
        inside = ["nsenter", f"--target={cluster.first}", "--pid", "--"]
        self.program = Program(inside, words, self.folder / "first.log")
        """Its end is that of the node."""

    @property
    def cgroup(self) -> str:
        return f"{self._cluster.cgroup}/{self._host.name}"

    @property
    def inside(self) -> list[str]:
        # The same words before the first start and after each: what runs on the node has them for good.
        return ["nsenter", *(f"--{flag}={self._names}/{file}" for flag, file in FILES.items()), "--"]

    @property
    def _names(self) -> Path:
        """A link to the folder in which the kernel has the namespaces of the first process."""
        return self.folder / "ns"

    def start(self) -> None:
        """Switch it on: its disk is as it was, its memory empty. Raises RuntimeError."""
        for name in VOLATILE:
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).mkdir()
        (self.folder / "ready").unlink(missing_ok=True)
        until(lambda: cgroup.remove(self.cgroup), f"the cgroups of {self._host.name} to be empty")
        cgroup.make(self.cgroup)
        self.program.start()
        until(self._is_ready, f"the namespaces of {self._host.name}")
        (self.first,) = children(self.program.pid)
        self._names.unlink(missing_ok=True)
        self._names.symlink_to(f"/proc/{self.first}/ns")
        self._connect()

    def stop(self) -> None:
        """Switch it off: every process of it is killed at once, and its link is gone."""
        with suppress(ProcessLookupError):
            os.kill(self.first, signal.SIGKILL)
        # The kernel lets the first process of a namespace end after all the others.
        self.program.wait()
        # The kernel removes the link with its other end, a moment later.
        until(lambda: not self._has_link(), f"the link to {self._host.name} to go")

    def plug(self) -> None:
        """Plug the cable in: the other nodes reach it, and it reaches them."""
        host = self._host
        to_node = f"dev {host.name} src {NODE_IP}"
        for words in (
            f"ip link set {host.name} up",
            f"ip route add {host.address} {to_node}",
            f"ip route add {host.pods} via {host.address} {to_node}",
        ):
            self._run(self._outside, words)

    def unplug(self) -> None:
        """Pull the cable out: it runs on, alone."""
        # The routes go with it.
        self._run(self._outside, f"ip link set {self._host.name} down")

    def _is_ready(self) -> bool:
        self.program.check()
        return (self.folder / "ready").exists()

    def _script(self) -> str:
        lines = ["set -e", *mounts(self.folder), f"echo {self._host.name} >/proc/sys/kernel/hostname"]
        # The shell reaps the processes that lose their parents.
        lines += ["ip link set lo up", f"touch {self.folder}/ready", "sleep infinity & wait"]
        return "\n".join(lines)

    @property
    def _outside(self) -> list[str]:
        """What runs in the network of the cluster, but sees the processes of this machine."""
        return ["nsenter", f"--target={self._cluster.first}", "--net", "--"]

    def _connect(self) -> None:
        host = self._host
        self._run(self._outside, f"ip link add {host.name} type veth peer name d0 netns {self.first}")
        self.plug()
        for words in (
            f"ip addr add {host.address}/32 dev d0",
            "ip link set d0 up",
            f"ip route add {NODE_IP} dev d0",
            f"ip route add default via {NODE_IP} dev d0",
        ):
            self._run(self.inside, words)
        for place in (self._outside, self.inside):
            self._run(place, "sysctl net.ipv4.ip_forward=1")

    def _has_link(self) -> bool:
        links = subprocess.run([*self._outside, "ip", "-o", "link"], check=True, capture_output=True, text=True)
        return f"{self._host.name}@" in links.stdout

    def _run(self, place: list[str], words: str) -> None:
        subprocess.run([*place, *words.split()], check=True, capture_output=True)
