"""A service that is short of file descriptors because of its targets or of readers of its pages: no container fails."""

import http.server
import re
import resource
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.system.cli.conftest import Start, manifest, probelet, wait_for
from tests.unit.service.caller import Caller, make_pod, running

pytestmark = pytest.mark.e2e

SLOW = 400
HEALTHY = 20
# A probe of a slow target outlives the test.
PATIENT_SECONDS = 600


@pytest.fixture
def healthy() -> Iterator[int]:
    """The port of a target that answers."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture
def slow() -> Iterator[int]:
    """The port of a target for which the kernel accepts connections, and that never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=SLOW * 2) as listener:
        yield listener.getsockname()[1]


def http_get(port: int, timeout: int) -> dict[str, Any]:
    times = {"timeoutSeconds": timeout, "periodSeconds": 1, "successThreshold": 1, "failureThreshold": 1}
    return {"httpGet": {"path": "/", "port": port, "scheme": "HTTP"}, **times}


def page(url: str, path: str) -> str:
    with urllib.request.urlopen(url + path, timeout=30) as answer:
        return str(answer.read().decode())


def attempts(url: str) -> dict[str, int]:
    """Attempts by cause, without the causes that no attempt has had."""
    found = re.findall(
        r'^probelet_probe_attempts_total\{cause="(\w+)"\} ([1-9]\d*)$', page(url, "/metrics"), re.MULTILINE
    )
    return {cause: int(count) for cause, count in found}


async def hand_over(path: Path, slow: int, healthy: int) -> None:
    caller = Caller(path)
    targets = [(f"slow-{number}", slow, PATIENT_SECONDS) for number in range(SLOW)]
    for uid, port, timeout in targets + [(f"well-{number}", healthy, 5) for number in range(HEALTHY)]:
        await caller.sync(make_pod(uid, livenessProbe=http_get(port, timeout)), running(f"test://{uid}"))
    await caller.channel.close()


async def test_more_slow_targets_than_the_soft_limit_cost_a_healthy_one_nothing(
    start: Start, tmp_path: Path, slow: int, healthy: int
) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    run = start("--socket", str(tmp_path / "s"), verb="serve", files=(256, hard))
    run.line("serving")
    await hand_over(tmp_path / "s", slow, healthy)
    wait_for(lambda: attempts(run.url).get("ok", 0) > 3 * HEALTHY, "healthy targets to be probed")
    assert attempts(run.url).keys() == {"ok"}


async def test_more_slow_targets_than_the_hard_limit_fail_no_container(
    start: Start, tmp_path: Path, slow: int, healthy: int
) -> None:
    run = start("--socket", str(tmp_path / "s"), verb="serve", files=(256, 256))
    run.line("serving")
    await hand_over(tmp_path / "s", slow, healthy)
    wait_for(lambda: attempts(run.url).get("starved", 0) > SLOW, "the descriptors to run out")
    assert attempts(run.url).keys() <= {"ok", "starved"}
    # Its own part goes on working.
    caller = Caller(tmp_path / "s")
    assert "FAILURE" not in (await caller.results()).values()
    await caller.channel.close()
    assert '"schema":"probelet-status/1"' in page(run.url, "/statusz")
    assert len([line for line in run.log_lines if "prober starved" in line["message"]]) >= 1


@pytest.mark.parametrize("sent", [b"", b"GET /statusz HTTP/1.1\r\nX: "])
def test_connections_to_the_pages_do_not_take_the_probes_descriptors(
    start: Start, tmp_path: Path, marker: str, healthy: int, sent: bytes
) -> None:
    probe = f"""
    livenessProbe:
      httpGet: {{host: 127.0.0.1, port: {healthy}}}
      periodSeconds: 1
      failureThreshold: 1
"""
    (tmp_path / "web.yaml").write_text(manifest("web", marker, probe=probe))
    run = start(str(tmp_path / "web.yaml"), files=(300, 300))
    address = run.url.removeprefix("http://").split(":")
    wait_for(lambda: run.status()["web"]["ready"], "the pod to run")

    def liveness() -> dict[str, Any]:
        found: dict[str, Any] = run.status()["web"]["containers"][0]["probes"]["liveness"]
        return found

    with ExitStack() as stack:
        for _ in range(600):
            # A connection that was displaced is closed at this end too.
            sock = stack.enter_context(socket.create_connection((address[0], int(address[1]))))
            sock.sendall(sent)
        runs = liveness()["runs"]
        wait_for(lambda: liveness()["runs"] > runs + 3, "further probes")
        seen = liveness()
        assert (seen["failures"], seen["errors"]) == (0, 0)
        assert page(run.url, "/healthz") == "ok\n"
    assert run.status()["web"]["containers"][0]["restart_count"] == 0
    assert len([line for line in run.log_lines if line["message"].startswith("closed a connection")]) < 60


def test_a_limit_that_is_too_small_is_one_line(start: Start, tmp_path: Path, marker: str) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker))
    for verb, arguments in (("run", (str(tmp_path / "web.yaml"),)), ("serve", ())):
        run = start(*arguments, verb=verb, files=(25, 25))
        assert run.ended() == 3
        assert [(line["verb"], line["level"], line["message"]) for line in run.log_lines] == [
            (
                f"probelet {verb}",
                "error",
                "at most 25 files may be open, and a service needs 128: raise the limit (ulimit -n, or LimitNOFILE of "
                "a systemd unit)",
            )
        ]
        assert run.log.read_text().count("\n") == 1


def test_pages_for_other_machines_must_be_asked_for(start: Start, tmp_path: Path, marker: str) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker))
    refused = probelet("run", str(tmp_path / "web.yaml"), "--listen", "0.0.0.0:0", "--state-dir", str(tmp_path / "s"))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "probelet run: --listen 0.0.0.0:0: other machines could read the pages, which show commands and output of "
        "probes; choose a loopback address or unix:PATH, or add --allow-remote\n"
    )
    run = start(str(tmp_path / "web.yaml"), "--listen", "0.0.0.0:0", "--allow-remote")
    assert run.line("other machines can read the pages")["level"] == "warning"
    assert page(run.url.replace("0.0.0.0", "127.0.0.1"), "/healthz") == "ok\n"


def test_pages_on_a_unix_socket(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "pages.sock"
    run = start("--listen", f"unix:{path}", verb="serve")
    assert run.line("listening")["url"] == f"unix:{path} /statusz"
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(path))
        sock.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert sock.recv(4096).startswith(b"HTTP/1.0 200 OK")
