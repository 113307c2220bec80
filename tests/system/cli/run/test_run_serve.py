"""The prober for another node agent on the command line: by ``serve``, and by ``run`` beside its own pods."""

import json
import signal
import stat
from pathlib import Path

import grpc
import pytest

from tests.system.cli.conftest import Start, manifest, probelet, processes_with, wait_for
from tests.system.cli.run.test_run_life import DEAF, page
from tests.unit.service.caller import Caller, ExecResponder, exec_probe, make_pod, running, until_result

pytestmark = pytest.mark.e2e


async def hand_over(socket: Path) -> None:
    """Hands a pod over, waits until it is ready, and removes it."""
    caller = Caller(socket)
    responder = ExecResponder(caller, code=0)
    await caller.sync(make_pod("theirs", readinessProbe=exec_probe()), running("test://theirs"))
    await until_result(caller.watch_results(), ("readiness", "test://theirs", "SUCCESS"))
    assert await caller.results() == {("readiness", "test://theirs"): "SUCCESS"}
    await caller.cleanup_pods()
    await responder.gone()
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


def test_an_unusable_socket_ends_run_before_its_pods_start(start: Start, tmp_path: Path, marker: str) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker))
    run = start(str(tmp_path / "web.yaml"), "--serve", str(tmp_path / "nowhere" / "prober.sock"))
    assert run.ended() == 3
    message = f"--serve {tmp_path}/nowhere/prober.sock: No such file or directory"
    assert message in [line["message"] for line in run.log_lines]
    assert not any("pod added" in line["message"] for line in run.log_lines)


@pytest.mark.parametrize("verb", ["run", "serve"])
def test_a_file_in_place_of_the_socket_is_reported_and_stays(verb: str, tmp_path: Path, marker: str) -> None:
    pod, file = tmp_path / "web.yaml", tmp_path / "passwd"
    pod.write_text(manifest("web", marker))
    file.write_text("root")
    options = [str(pod), "--listen", "127.0.0.1:0", "--serve"] if verb == "run" else ["--socket"]
    ended = probelet(verb, *options, str(file), "--state-dir", str(tmp_path / "state"))
    message = "exists and is not a socket, so it stays as it is; choose a path that is free or a socket's"
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"probelet {verb}: {options[-1]} {file}: {message}\n"
    assert file.read_text() == "root"
    assert sorted(tmp_path.iterdir()) == [file, pod]


@pytest.mark.parametrize("verb", ["run", "serve"])
def test_a_path_too_long_for_a_socket_is_reported(verb: str, tmp_path: Path, marker: str) -> None:
    pod, path = tmp_path / "web.yaml", tmp_path / ("x" * 108)
    pod.write_text(manifest("web", marker))
    options = [str(pod), "--listen", "127.0.0.1:0", "--serve"] if verb == "run" else ["--socket"]
    ended = probelet(verb, *options, str(path), "--state-dir", str(tmp_path / "state"))
    assert (ended.returncode, ended.stdout) == (2, "")
    message = f"{options[-1]} {path}: too long, the socket's path may have 107 bytes"
    assert ended.stderr == f"probelet {verb}: {message}\n"


@pytest.mark.parametrize("verb", ["run", "serve"])
async def test_a_node_that_denies_hosts_denies_them_to_callers_too(
    verb: str, start: Start, tmp_path: Path, marker: str
) -> None:
    config, pod, socket = tmp_path / "config.yaml", tmp_path / "web.yaml", tmp_path / "prober.sock"
    opted = "denyHostProbes: true\nmaxContainerAge: 24h\n"
    config.write_text(f"apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\n{opted}")
    pod.write_text(manifest("web", marker))
    options = [str(pod), "--serve"] if verb == "run" else ["--socket"]
    served = start(*options, str(socket), "--config", str(config), verb=verb)
    served.line("serving")
    warned = [line["message"] for line in served.log_lines if "no effect in serve" in line["message"]]
    assert len(warned) == (verb == "serve"), "run itself restarts old containers"
    caller = Caller(socket)
    with pytest.raises(grpc.aio.AioRpcError, match=r"livenessProbe\.tcpSocket\.host: Forbidden"):
        await caller.add_pod(
            make_pod(livenessProbe={"tcpSocket": {"port": 1, "host": "127.0.0.1"}, "periodSeconds": 1})
        )
    await caller.channel.close()


async def test_serve_has_pages_of_its_probes(start: Start, tmp_path: Path) -> None:
    serve = start("--socket", str(tmp_path / "prober.sock"), "--node-name", "node-e2e", verb="serve")
    url = serve.url
    caller = Caller(tmp_path / "prober.sock")
    responder = ExecResponder(caller, code=0)
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
    await responder.gone()
    await caller.channel.close()
    serve.signal(signal.SIGTERM)
    assert serve.ended() == 0
