"""The cluster of these tests itself: it runs pods, and nothing of it is left, however its test process ends."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.machine.keeper import NODE_IP
from tests.cluster.namespace import Namespace
from tests.kubelet.beside.pods.make import answers, container, pod
from tests.support import cgroup, sysctls
from tests.support.paths import ROOT
from tests.system.containerd.machine import until

pytestmark = pytest.mark.cluster

START_AND_WAIT = """
import sys
from tests.cluster.cluster import Cluster
cluster = Cluster(int(sys.argv[1]))
cluster.start()
print(cluster.folder, flush=True)
sys.stdin.read()
"""


def test_a_pod_gets_its_probes_from_the_kubelet(namespace: Namespace) -> None:
    namespace.create(pod("web", container(readinessProbe=answers("r", "500x2,200"))))
    namespace.until_ready("web")
    said = {(event["reportingComponent"], event["message"]) for event in namespace.events("web")}
    assert ("kubelet", "Readiness probe failed: HTTP probe failed with statuscode: 500") in said
    assert namespace.pod("web")["status"]["hostIP"] == NODE_IP


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.usefixtures("cluster")
def test_nothing_is_left_of_a_cluster_whose_test_process_is_killed(nodes: int) -> None:
    before = sysctls.values()
    command = [sys.executable, "-c", START_AND_WAIT, str(nodes)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert _processes_of(folder)
        process.kill()
    # The program that entered the machine's namespaces for a process of it ends a moment after that process.
    until(lambda: not folder.exists() and not _processes_of(folder), f"{folder} and its processes to go")
    assert not cgroup.exists(folder.name)
    assert str(folder) not in Path("/proc/mounts").read_text()
    assert sysctls.values() == before


def _processes_of(folder: Path) -> list[str]:
    """The command lines that name the folder, of every process of the machine."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in line:
            found.append(line)
    return found
