"""docs/agent.md is followed to its end on the cluster of these tests, by copy and paste."""

import re
import stat
import subprocess
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.installed import OVERLAY, Installed
from tests.support.paths import ROOT

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

PAGE = ROOT / "docs" / "agent.md"
BLOCK = re.compile(r"<!-- not run: tests/cluster runs it[^>]*-->\n```console\n(?P<text>.*?)```", re.DOTALL)
IMAGE, ITS_IMAGE = "docker.io/local/busybox:1", "docker.io/library/busybox:1.36"
"""There is no registry: the image of the tests gets the name of the example's."""


def sessions() -> list[str]:
    """The commands of each block, as one script."""
    blocks = [match["text"].splitlines() for match in BLOCK.finditer(PAGE.read_text())]
    return ["\n".join(line.removeprefix("$ ") for line in lines if line.startswith("$ ")) for lines in blocks]


class Shell:
    """A shell whose kubectl talks to the cluster."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._path = folder
        kubectl = folder / "kubectl"
        kubectl.write_text(f'#!/bin/sh\nexec {" ".join(cluster.kubectl.command)} "$@"\n')
        kubectl.chmod(kubectl.stat().st_mode | stat.S_IXUSR)

    def run(self, script: str) -> str:
        """What a script prints; it ends at the first command that fails."""
        environment = {"PATH": f"{self._path}:/usr/sbin:/usr/bin:/sbin:/bin"}
        done = subprocess.run(
            ["sh", "-eu", "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout


def test_the_page_is_followed_from_the_installation_to_the_way_back(
    cluster: Cluster, probelet: Installed, tmp_path: Path
) -> None:
    install, first, broken, back = sessions()
    shell = Shell(cluster, tmp_path)
    cluster.runtime.ctr("images", "tag", "--force", IMAGE, ITS_IMAGE)
    # The overlay of this cluster has the image and the address of the API server; kubectl has applied it already.
    assert "-k deploy/kustomize/base" in install
    assert OVERLAY.is_dir()
    shell.run("\n".join(line for line in install.splitlines() if "apply" not in line))
    try:
        assert '{"app":{"startupProbe":' in shell.run(first).splitlines()[-1].replace(" ", "")
        events = shell.run(broken)
        assert "Container app failed liveness probe, will be restarted" in events
        assert re.search(r"^web-\S+ +1/1 +Running +1 ", events, re.MULTILINE)
        assert shell.run(back).endswith("/healthz")
    finally:
        shell.run("kubectl delete -f examples/cluster/web.yaml --wait=false")
