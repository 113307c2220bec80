"""The containerd that the tests start: its root, state, socket and network belong to it alone and go with it.

Everything that has an address lives in a network namespace made here, in which nothing leads outside: a probe of a
removed pod reaches no other program. The tests find containerd's processes by the socket they were given, not by name.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.errors import CriError, RuntimeRefused
from probelet.runtime.cri.v1 import api_pb2

from tests.support.patience import PATIENCE_SECONDS, pauses
from tests.system.containerd.image import PAUSE, build_images
from tools.image.archive import ARCHITECTURE

PROGRAMS = ("containerd", "containerd-shim-runc-v2", "ctr", "runc", "ip", "nsenter", "unshare")
"""These programs have to be on PATH."""

CNI_PLUGINS = Path("/usr/lib/cni")
BUSYBOX = Path("/bin/busybox")
PACKAGES = "containerd runc containernetworking-plugins busybox-static iproute2"

POD_CIDR = "10.231.0.0/16"
CONFIG = """
version = 2
root = "{folder}/root"
state = "{folder}/state"
temp = "{folder}/tmp"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.opt",
]
# containerd kills a shim that answers late together with its containers; on a busy machine a healthy shim may be late.
[timeouts]
  "io.containerd.timeout.shim.cleanup" = "60s"
  "io.containerd.timeout.shim.load" = "60s"
  "io.containerd.timeout.shim.shutdown" = "60s"
  "io.containerd.timeout.task.state" = "60s"
[grpc]
  address = "{socket}"
[ttrpc]
  address = "{socket}.ttrpc"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  # Without CAP_SYS_RESOURCE runc would die of its attempt to lower a score.
  restrict_oom_score_adj = true
  disable_apparmor = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "{snapshotter}"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{folder}/cni"
    max_conf_num = 1
# containerd 2 has NRI on, whose socket has one path for all containerds of a machine.
[plugins."io.containerd.nri.v1.nri"]
  disable = true
# containerd 2 pulls through this service, which would unpack for another snapshotter.
[[plugins."io.containerd.transfer.v1.local".unpack_config]]
  platform = "linux/{architecture}"
  snapshotter = "{snapshotter}"
"""

NETWORK = """
{{"cniVersion": "0.4.0", "name": "{name}", "plugins": [
  {{"type": "ptp", "ipMasq": false, "mtu": 1400,
   "ipam": {{"type": "host-local", "dataDir": "{folder}/ipam", "ranges": [[{{"subnet": "{cidr}"}}]],
            "routes": [{{"dst": "0.0.0.0/0"}}]}}}}]}}
"""


def what_is_missing() -> str:
    """The reason why containerd cannot run here, in one line; empty if it can."""
    if os.geteuid() != 0:
        return "containers are made by root"
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    absent += [str(path) for path in (BUSYBOX, CNI_PLUGINS / "ptp", CNI_PLUGINS / "host-local") if not path.exists()]
    return f"no {', '.join(absent)}; on Debian: apt-get install {PACKAGES}" if absent else ""


class Containerd:
    """A containerd. Between ``start`` and ``stop`` a test may restart it any number of times."""

    snapshotter = "native"
    """It copies instead of mounting one file system over another, which not every sandbox allows."""

    def __init__(self, folder: Path | None = None, socket: str = "c.sock", pods: str = POD_CIDR) -> None:
        """``pods``: the range of the pods' addresses."""
        # Short: a socket's path has 107 bytes.
        self.folder = folder or Path(tempfile.mkdtemp(prefix="ctd-"))
        self.socket = self.folder / socket
        self.endpoint = f"unix://{self.socket}"
        self.network = f"probelet-{self.folder.name}"
        self._pods = pods
        self._space: subprocess.Popen[bytes] | None = None
        self._daemon: subprocess.Popen[bytes] | None = None

    # The network namespace.

    @property
    def inside(self) -> list[str]:
        """The prefix of a command that runs in the pods' network namespace."""
        assert self._space is not None, "start comes first"
        return ["nsenter", f"--net=/proc/{self._space.pid}/ns/net", "--"]

    def command(self, *arguments: str | Path) -> str:
        """Run a command in the pods' network namespace; returns its output."""
        command = [*self.inside, *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(str(error)) from None
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def ctr(self, *arguments: str | Path) -> str:
        """Run containerd's own client in the namespace of the CRI."""
        return self.command("ctr", "-a", self.socket, "-n", "k8s.io", *arguments)

    # Its life.

    def start(self) -> None:
        """Start containerd and import its images. Raises RuntimeError or CalledProcessError."""
        for name in ("cni", "tmp"):
            (self.folder / name).mkdir()
        fill: dict[str, object] = {"folder": self.folder, "socket": self.socket, "pause": PAUSE, "plugins": CNI_PLUGINS}
        fill |= {"architecture": ARCHITECTURE, "snapshotter": self.snapshotter}
        (self.folder / "config.toml").write_text(CONFIG.format(**fill))
        network = NETWORK.format(name=self.network, folder=self.folder, cidr=self._pods)
        (self.folder / "cni" / "10-pods.conflist").write_text(network)
        self.make_space()
        self.run()
        self.import_image(self.build_images())

    def make_space(self) -> None:
        """Make the network namespace."""
        self._space = subprocess.Popen(
            ["unshare", "--net", "--", "sh", "-c", "ip link set lo up && exec sleep infinity"]
        )
        until(lambda: "UP" in self.command("ip", "-o", "link", "show", "lo"), "a network namespace")

    def build_images(self) -> Path:
        """The archive of the images that every containerd of the tests has."""
        return build_images(self.folder, BUSYBOX)

    def import_image(self, archive: Path) -> None:
        self.ctr("images", "import", "--no-unpack", archive)

    def run(self, patience: float = PATIENCE_SECONDS) -> None:
        """Start the daemon and wait until its API and then the CRI answer."""
        self.launch()
        until(self._answers, f"containerd ({self.folder}/log)", patience)

    def launch(self) -> None:
        """Start the daemon."""
        with (self.folder / "log").open("ab") as log:
            command = [*self.inside, "containerd", "--config", str(self.folder / "config.toml")]
            self._daemon = subprocess.Popen(command, stdout=log, stderr=log)

    def check(self) -> None:
        """Raises RuntimeError if the daemon has ended."""
        assert self._daemon is not None
        if self._daemon.poll() is not None:
            raise RuntimeError(f"containerd ended: {self.last_lines()}")

    def last_lines(self) -> str:
        """The end of the daemon's log."""
        return (self.folder / "log").read_text()[-8_000:]

    def _answers(self) -> bool:
        self.check()
        with suppress(RuntimeError, CriError):
            self.containers()
            return bool(self.ctr("version"))
        return False

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End the daemon; containers go on under their shims."""
        assert self._daemon is not None
        self._daemon.send_signal(number)
        self._daemon.wait(PATIENCE_SECONDS)

    def stop(self) -> None:
        """End every pod, then the daemon and its network, and remove their files."""
        if self._daemon is not None and self._daemon.poll() is None:
            with suppress(CriError):
                asyncio.run(remove_pods(self.endpoint))
            self.kill(signal.SIGTERM)
        for shim in self.shims():
            with suppress(ProcessLookupError):
                os.kill(shim, signal.SIGKILL)
        if self._space is not None:
            self._space.kill()
            self._space.wait()
        for mount in reversed(self._mounts()):
            subprocess.run(["umount", "-l", mount], check=False)
        for result in Path("/var/lib/cni/results").glob(f"{self.network}-*"):
            result.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        """The process of the daemon."""
        assert self._daemon is not None, "start comes first"
        return self._daemon.pid

    def version(self) -> str:
        """The daemon's version from the CRI, such as 1.6.20."""

        async def asked() -> str:
            async with RuntimeClient(self.endpoint) as client:
                return (await client.version()).runtime_version

        return asyncio.run(asked())

    def shims(self) -> list[int]:
        """Processes of the shims that serve this containerd."""
        return processes_with("-address", str(self.socket))

    def pid_of(self, container_id: str) -> int:
        """The first process of a container, with or without ``type://``."""
        rows = (row.split() for row in self.ctr("tasks", "ls").splitlines())
        return next(int(row[1]) for row in rows if row[0] == container_id.rpartition("://")[2])

    def containers(self) -> list[api_pb2.Container]:
        """Every container, as the CRI lists it."""

        async def listed() -> list[api_pb2.Container]:
            async with RuntimeClient(self.endpoint) as client:
                return await client.list_containers()

        return asyncio.run(listed())

    def _mounts(self) -> list[str]:
        rows = (line.split()[1] for line in Path("/proc/mounts").read_text().splitlines())
        return sorted(mount for mount in rows if mount.startswith(f"{self.folder}/"))


async def remove_pods(endpoint: str, node: str = "") -> None:
    """Remove every pod from a runtime, or every pod of one node."""
    async with RuntimeClient(endpoint) as client:
        for sandbox in await client.list_pod_sandbox():
            if node in ("", sandbox.labels.get("probelet.dev/node")):
                await _remove_pod(client, sandbox.id)


async def _remove_pod(client: RuntimeClient, sandbox_id: str) -> None:
    """Remove a pod. containerd refuses to remove a container while the StartContainer of a killed probelet goes on."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            await client.stop_pod_sandbox(sandbox_id)
            await client.remove_pod_sandbox(sandbox_id)
            return
        except RuntimeRefused:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.1)


def processes_with(*words: str) -> list[int]:
    """Processes that have all these words among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and set(words) <= set(_arguments(entry)):
                found.append(int(entry.name))
    return found


def process_state(pid: int) -> str:
    """The letter that the kernel has for a process's state. Raises OSError if there is no such process."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _arguments(process: Path) -> Sequence[str]:
    return (process / "cmdline").read_bytes().decode(errors="replace").split("\0")


def until(true: Callable[[], object], what: str, patience: float = PATIENCE_SECONDS) -> None:
    """Wait until ``true`` returns true. Raises RuntimeError after ``patience`` seconds."""
    for pause in pauses(patience):
        if true():
            return
        time.sleep(pause)
    raise RuntimeError(f"waited in vain for {what}")
