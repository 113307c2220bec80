"""One round: both sides at once, each with a containerd and a network namespace of its own."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tests.cluster.binaries.build import TARGET
from tests.kubelet.beside.build import kubelet as kubelet_program
from tests.kubelet.beside.image import build_image
from tests.kubelet.beside.play import Play, fresh
from tests.kubelet.beside.runtime import Runtime
from tests.kubelet.beside.sides.agent import Agent
from tests.kubelet.beside.sides.apiserver import ApiServer
from tests.kubelet.beside.sides.kubelet import NODE_IP, Kubelet, KubeletOfApiServer
from tests.kubelet.beside.sides.probelet import Probelet
from tests.support import cgroup, sysctls
from tests.system.containerd.machine import BUSYBOX

SIDES = ("kubelet", "probelet")
# A kubelet wants an address and a default route.
ROUTES = (
    "link add d0 type veth peer name d1",
    f"addr add {NODE_IP}/24 dev d0",
    "link set d0 up",
    "link set d1 up",
    "route add default via 10.99.0.254 dev d0",
)


def play_round(out: Path, names: list[str], assets: Path | None) -> None:
    """Play these pods on both sides; the notes go to ``out/kubelet`` and ``out/probelet``. Raises RuntimeError."""
    with sysctls.kept(), ThreadPoolExecutor(len(SIDES)) as threads:
        for done in [threads.submit(_play_side, side, fresh(out / side), names, assets) for side in SIDES]:
            done.result()


def _play_side(side: str, out: Path, names: list[str], assets: Path | None) -> None:
    runtime = Runtime()
    with ExitStack() as cgroups, ExitStack() as stack:
        stack.callback(_clean, out)
        stack.callback(runtime.stop)
        runtime.start()
        for route in ROUTES:
            runtime.command("ip", *route.split())
        runtime.ctr("images", "import", "--no-unpack", build_image(runtime.folder, BUSYBOX, TARGET))
        agent = _agent(side, runtime, out / "agent", assets, stack, cgroups)
        stack.callback(agent.kill)
        Play(agent, out, names).run()


def _agent(
    side: str, runtime: Runtime, folder: Path, assets: Path | None, stack: ExitStack, cgroups: ExitStack
) -> Agent:
    if side == "probelet":
        return Probelet(runtime, folder)
    if assets is None:
        kubelet = Kubelet(runtime, folder, kubelet_program())
    else:
        server = ApiServer(runtime, folder.parent / "apiserver", assets)
        stack.callback(server.stop)
        server.start()
        kubelet = KubeletOfApiServer(runtime, folder, kubelet_program(), server)
    cgroup.make(kubelet.cgroup)
    cgroups.callback(cgroup.remove, kubelet.cgroup)
    return kubelet


def _clean(out: Path) -> None:
    """Undo what a kubelet leaves: its mounts and its links to logs."""
    mounts = (line.split()[1] for line in Path("/proc/mounts").read_text().splitlines())
    for mount in sorted((mount for mount in mounts if mount.startswith(f"{out}/")), reverse=True):
        subprocess.run(["umount", "-l", mount], check=False)
    for link in Path("/var/log/containers").glob("*.log"):
        if link.is_symlink() and str(link.readlink()).startswith(f"{out}/"):
            link.unlink()
