"""The prober for another node agent on the command line: by ``serve``, and by ``run`` beside its own pods."""

import json
import signal
import stat
from pathlib import Path

import pytest

from tests.e2e.cli.conftest import Start, manifest, processes_with, wait_for
from tests.e2e.cli.test_run_life import DEAF, page
from tests.unit.service.caller import Caller, Hands, exec_probe, make_pod, running, until_result

pytestmark = pytest.mark.e2e


async def hand_over(socket: Path) -> None:
    """A pod of ours, which is ready when this returns, and gone."""
    caller = Caller(socket)
    hands = Hands(caller, code=0)
    await caller.sync(make_pod("theirs", readinessProbe=exec_probe()), running("test://theirs"))
    await until_result(caller.watch_results(), ("readiness", "test://theirs", "SUCCESS"))
    assert await caller.results() == {("readiness", "test://theirs"): "SUCCESS"}
    await caller.cleanup_pods()
    await hands.gone()
    await caller.channel.close()


async def test_run_probes_another_agents_pods_beside_its_own_until_its_end(
    start: Start, tmp_path: Path, marker: str
) -> None:
    socket, ready = tmp_path / "prober.sock", "readinessProbe: {exec: {command: ['true']}, periodSeconds: 1}"
    (tmp_path / "deaf.yaml").write_text(
        manifest("deaf", marker, DEAF % (tmp_path / "deaf"), grace=3600, probe=f"    {ready}")
    )
    run = start(str(tmp_path / "deaf.yaml"), "--serve", str(socket))
    run.line("serving")
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600
    wait_for(lambda: run.status()["deaf"]["ready"], "our own pod to be ready")
    await hand_over(socket)
    assert run.status().keys() == {"deaf"}
    wait_for((tmp_path / "deaf").exists, "the pod's process to be deaf")
    run.signal(signal.SIGTERM)
    run.line("draining")
    await hand_over(socket)
    run.signal(signal.SIGTERM)
    assert run.ended() == 143
    assert not socket.exists()
    assert processes_with(marker) == []


def test_a_socket_that_cannot_be_had_ends_run_before_its_pods_begin(start: Start, tmp_path: Path, marker: str) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker))
    run = start(str(tmp_path / "web.yaml"), "--serve", str(tmp_path / "nowhere" / "prober.sock"))
    assert run.ended() == 3
    said = f"probelet run: --serve {tmp_path}/nowhere/prober.sock: No such file or directory"
    assert said in run.log.read_text().splitlines()
    assert not any("pod added" in line["message"] for line in run.said)


async def test_serve_has_pages_of_what_it_probes(start: Start, tmp_path: Path) -> None:
    serve = start("--socket", str(tmp_path / "prober.sock"), "--node-name", "node-e2e", verb="serve")
    url = serve.url
    caller = Caller(tmp_path / "prober.sock")
    hands = Hands(caller, code=0)
    await caller.sync(make_pod(readinessProbe=exec_probe()), running())
    await until_result(caller.watch_results(), ("readiness", "test://1", "SUCCESS"))
    assert page(f"{url}/healthz")[::2] == (200, "ok\n")
    status = json.loads(page(f"{url}/statusz")[2])
    assert (status["schema"], status["node"], [pod["name"] for pod in status["pods"]]) == (
        "probelet-status/1",
        "node-e2e",
        ["pod-u"],
    )
    assert "prober_probe_total{" in page(f"{url}/metrics/probes")[2]
    assert "\nprobelet_pods_handed_over 1\n" in page(f"{url}/metrics")[2]
    await hands.gone()
    await caller.channel.close()
    serve.signal(signal.SIGTERM)
    assert serve.ended() == 0
