"""``probe --from --stand-in``: the probe of a manifest whose image is not here is made and answered."""

import json
from pathlib import Path

import pytest

from tests.system.cli.conftest import probelet
from tests.system.cli.test_run_stand_in import FOREIGN

OWN = """
apiVersion: v1
kind: Pod
metadata: {name: own}
spec:
  containers:
  - {name: app, command: [/bin/true], readinessProbe: {tcpSocket: {port: 80}}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> str:
    path = tmp_path / "shop.yaml"
    path.write_text(FOREIGN)
    return str(path)


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("container", "probe_type", "output"),
    [("web", "readiness", "ok\n"), ("rpc", "readiness", ""), ("cache", "startup", "")],
    ids=["https", "grpc", "exec"],
)
def test_a_stand_in_answers(shop: str, container: str, probe_type: str, output: str) -> None:
    which = ["--container", container, "--type", probe_type]
    ended = probelet("probe", "--from", shop, *which, "--stand-in", "--tries", "3", "-o", "json")
    assert (ended.returncode, json.loads(ended.stdout)["outcome"]) == (0, "success"), ended.stderr
    assert output in json.loads(ended.stdout)["output"]


def test_a_container_with_a_program_here_has_no_stand_in(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN)
    ended = probelet("probe", "--from", str(path), "--stand-in")
    expected = (
        "probelet probe: --stand-in: container app has a program on this machine and no image; run it: probelet run\n"
    )
    assert (ended.returncode, ended.stderr) == (2, expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--spec", "{}"], "--pod, --container, --type and --stand-in need --from"),
        (["--from", "x.yaml", "--pod-ip", "127.0.0.1"], "--stand-in has an address of its own"),
    ],
)
def test_flags_that_do_not_go_together(arguments: list[str], message: str) -> None:
    ended = probelet("probe", *arguments, "--stand-in")
    assert ended.returncode == 2
    assert message in ended.stderr
