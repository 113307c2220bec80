"""``run --user``: as whom the programs of a manifest run, and what is refused."""

import os
from pathlib import Path

import pytest

from tests.system.cli.conftest import Start, probelet, wait_for

UID = 1_234_567
"""No machine has it."""

WEB = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: app
    command: [sh, -c, 'echo "$(id -u):$(id -g) home $HOME" > /dev/stdout; exec sleep 3600']
    securityContext: {runAsUser: 0}
    readinessProbe: {exec: {command: [sh, -c, '[ "$(id -u)" = 1234567 ]']}, periodSeconds: 1}
  - name: played
    image: registry.example/played:1
    ports: [{containerPort: 80}]
    readinessProbe: {tcpSocket: {port: 80}, periodSeconds: 1}
"""


@pytest.mark.e2e
@pytest.mark.skipif(os.geteuid() != 0, reason="not root")
def test_containers_and_their_commands_run_as_the_user(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(WEB)
    run = start(str(path), "--stand-in", "--user", str(UID))
    line = run.line("programs of the manifests run as")
    assert line["message"] == f"programs of the manifests run as uid {UID}"
    assert line["programs"] == "sh (web/app)"
    run.line("listening")
    # The stand-in has a port that only root may open, and the probe of app asks for the user.
    wait_for(lambda: run.status().get("web", {}).get("ready"), "the pod to be ready")
    assert f"{UID}:{UID} home /" in run.verb("logs", "web", "-c", "app").stdout


def test_a_user_that_is_none_costs_the_start(tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(WEB)
    ended = probelet("run", str(path), "--user", "no-such-user", "--state-dir", str(tmp_path / "state"))
    assert ended.returncode == 2
    expected = 'probelet run: --user: "no-such-user" is no user of this machine; want a name or a number\n'
    assert ended.stderr == expected
