"""``probelet run`` with ``execMode: direct``: probes pass and fail, restarts follow, and the pages say which way."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.containerd.cgroups import cgroups_with
from tests.system.containerd.machine import Containerd
from tests.system.containerd.node import ContainerdNode

pytestmark = pytest.mark.e2e

DIRECT = ("---", "apiVersion: probelet.dev/v1alpha1", "kind: ProbeletConfiguration", "execMode: direct")


def exec_probe(*command: str) -> dict[str, object]:
    return {"exec": {"command": list(command)}, "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 2}


def value(page: str, series: str) -> int:
    found = re.search(rf"^{re.escape(series)} (\d+)$", page, re.MULTILINE)
    assert found, f"{series} is not on the page"
    return int(found[1])


def test_probes_enter_containers_with_and_without_a_profile(node: ContainerdNode) -> None:
    profile = {"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}
    sleep = ["sh", "-c", "touch /tmp/well; sleep 100000"]
    probe = exec_probe("cat", "/tmp/well")
    node.run("plain", {"name": "app", "command": sleep, "readinessProbe": probe, "livenessProbe": probe})
    node.run("profiled", {"name": "app", "command": sleep, "readinessProbe": probe, **profile})
    node.configure(*DIRECT)
    node.start()
    node.until(lambda: node.pod("plain")["ready"] and node.pod("profiled")["ready"], "ready pods")
    page = node.metrics()
    assert value(page, "probelet_exec_direct_attempts_total") > 0
    assert value(page, 'probelet_exec_direct_fallbacks_total{reason="seccomp"}') == 0
    assert value(page, "probelet_exec_direct_helper_starts_total") == 1
    (line,) = node.lines_with("seccomp filter read from runc")
    assert line["instructions"] > 100
    assert not node.lines_with("exec probes go over the runtime")

    first = node.container("plain")["container_id"].rpartition("/")[2]
    # The helper's failure restarts the container as the runtime's would.
    node.execute("plain", "rm", "/tmp/well")
    node.until(lambda: node.container("plain")["restart_count"] == 1, "a restart")
    assert node.events("Unhealthy")
    # The new container has another ID and another first process.
    node.until(lambda: node.pod("plain")["ready"], "a ready pod")
    # The leaves of its commands were no hindrance.
    node.until(lambda: not cgroups_with(first), "the end of the first one's cgroups")
    before = value(node.metrics(), "probelet_exec_direct_attempts_total")
    node.until(lambda: value(node.metrics(), "probelet_exec_direct_attempts_total") > before + 2, "more attempts")


def test_the_runtime_is_the_default(node: ContainerdNode) -> None:
    node.run("plain", {"name": "app", "command": ["sleep", "100000"], "readinessProbe": exec_probe("true")})
    node.start()
    node.until(lambda: node.pod("plain")["ready"], "a ready pod")
    page = node.metrics()
    assert value(page, "probelet_exec_direct_attempts_total") == 0
    assert value(page, "probelet_exec_direct_helper_starts_total") == 0
    children = Path(f"/proc/{node.pid}/task/{node.pid}/children").read_text().split()
    assert not [child for child in children if "probelet-enter" in Path(f"/proc/{child}/cmdline").read_text()]


def test_the_embedded_runtime_has_no_containers_to_enter(containerd: Containerd, tmp_path: Path) -> None:
    configuration = tmp_path / "config.yaml"
    configuration.write_text("\n".join(DIRECT[1:]) + "\n")
    (tmp_path / "manifests").mkdir()
    command = [sys.executable, "-m", "probelet", "run", str(tmp_path / "manifests"), "--config", str(configuration)]
    command += ["--state-dir", str(tmp_path / "state"), "--listen", "127.0.0.1:0"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0
    assert "execMode direct: needs a CRI runtime" in ended.stderr
