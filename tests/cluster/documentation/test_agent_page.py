"""The commands of docs/agent.md, one block after another, with the page's own words."""

import json
import re
import subprocess

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.installed import Installed
from tests.support.paths import ROOT
from tests.system.containerd.image import layer_of, write_images
from tests.system.containerd.machine import BUSYBOX
from tests.tidy.pages.test_docs import FENCE, NOT_RUN, commands

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

PAGE = (ROOT / "docs" / "agent.md").read_text()
OURS = "tests/cluster runs it"
"""The reason that the page gives for the blocks that are run here."""
BUSYBOX_IMAGE = "docker.io/library/busybox:1.36"
COMMAND_SECONDS = 150


def blocks() -> list[str]:
    reasons = ((NOT_RUN.search(PAGE[: match.start()]), match["text"]) for match in FENCE.finditer(PAGE))
    return [text for reason, text in reasons if reason and reason["reason"].startswith(OURS)]


def test_the_page_leads_from_the_installation_to_a_kill_and_back(cluster: Cluster, probelet: Installed) -> None:
    cluster.runtime.import_image(
        write_images(cluster.folder / "busybox.tar", layer_of(BUSYBOX, {}), [(BUSYBOX_IMAGE, ["sh"], "")])
    )
    install, first, killed, left = blocks()
    assert "apply -k deploy/kustomize/base" in install
    shown(cluster, probelet, install)
    *_, pods, annotation = shown(cluster, probelet, first)
    rows = [row.split() for row in pods.splitlines()[1:]]
    assert [(row[1], row[-1]) for row in rows] == [("1/1", "1/1")] * 2, "each ready, and its gate open"
    assert {*json.loads(annotation)["app"]} == {"startupProbe", "livenessProbe", "readinessProbe"}
    *_, events, pods = shown(cluster, probelet, killed)
    said = re.search("the event `(?P<text>Container app [^`]*)`", PAGE, re.IGNORECASE)
    assert said is not None
    assert said["text"] in events
    assert sorted(row.split()[3] for row in pods.splitlines()[1:]) == ["0", "1"]
    assert shown(cluster, probelet, left)[-1] == "/healthz"


def shown(cluster: Cluster, probelet: Installed, block: str) -> list[str]:
    """What each command of a block prints. Each has to exit with 0."""
    printed = []
    for command in commands(block):
        shell = command.shell.replace("deploy/kustomize/base", str(probelet.kustomization))
        environment = [f"PATH={cluster.assets}:/usr/bin:/bin", f"KUBECONFIG={cluster.control.kubeconfig}"]
        whole = [*cluster.space.inside, "env", *environment, "bash", "-c", f"cd {ROOT} && {shell}"]
        done = subprocess.run(whole, capture_output=True, text=True, timeout=COMMAND_SECONDS)
        assert done.returncode == 0, f"{shell}: {done.stdout}{done.stderr}"
        printed.append(done.stdout.strip())
    return printed
