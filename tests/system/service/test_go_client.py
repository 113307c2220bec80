"""A kubelet's prober.Manager and results.Manager, of the published module, whose workers run in probelet."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.binaries.build import what_is_not_built
from tests.kubelet.goclient.build import BUILD_SECONDS, build_client
from tests.support.required import missing
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(BUILD_SECONDS + 300)]


@pytest.fixture(scope="module")
def client() -> Path:
    """The program. It compiles only if its types implement the kubelet's interfaces."""
    if shutil.which("go") is None:
        missing("go", "Go 1.26 or newer builds the client in tests/kubelet/goclient: https://go.dev/dl")
    # The modules of both are the same: without that build this one takes minutes too.
    if why := what_is_not_built():
        missing("kubernetes", why)
    try:
        return build_client()
    except subprocess.CalledProcessError as error:
        if "dial tcp" in error.stderr:
            missing("go", "the modules of tests/kubelet/goclient are not here and the module proxy cannot be reached")
        pytest.fail(error.stderr, pytrace=False)


@pytest.fixture
def socket(tmp_path: Path) -> Iterator[Path]:
    """Where ``probelet serve`` serves."""
    path = tmp_path / "prober.sock"
    command = [sys.executable, "-m", "probelet", "serve", "--socket", str(path), "--state-dir", str(tmp_path / "state")]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log, env={**os.environ, "NO_COLOR": "1"})

    def serves() -> bool:
        assert process.poll() is None, (tmp_path / "log").read_text()
        return path.exists()

    until(serves, "the socket of the service")
    yield path
    process.terminate()
    assert process.wait(30) == 0, (tmp_path / "log").read_text()
    assert not path.exists()


@pytest.mark.parametrize("pods", [200, pytest.param(1_000, marks=pytest.mark.slow)])
def test_pods_are_probed_for_a_kubelets_manager(client: Path, socket: Path, pods: int) -> None:
    command = [str(client), "-socket", str(socket), "-pods", str(pods)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {
        "pods": pods,
        "ready": pods // 2,
        "cached": 2 * pods,
        "execs": True,
        "updates": True,
        "events": True,
    }
