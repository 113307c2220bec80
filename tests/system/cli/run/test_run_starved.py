"""The prober is stopped while its probe waits for an answer: does the timeout count, and does the log name it?"""

import re
import signal
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from tests.system.cli.conftest import Run, Start, manifest, wait_for

pytestmark = pytest.mark.e2e

TIMEOUT_SECONDS = 6
# Longer than the timeout. The pause may begin at any time before the timeout ends.
STOPPED_SECONDS = TIMEOUT_SECONDS + 0.5
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
CONFIG = """
apiVersion: probelet.dev/v1alpha1
kind: ProbeletConfiguration
starvedShare: 0.1
starvedVerdict: %s
"""


class Target:
    """Stops its prober at the first request, and answers every later request at once."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.prober: Future[Run] = Future()
        self.stopped = threading.Event()
        self._held: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.recv(4096)
            if self.stopped.is_set():
                connection.sendall(OK)
                connection.close()
            else:
                self.prober.result().signal(signal.SIGSTOP)
                self._held.append(connection)
                self.stopped.set()

    def answer(self) -> None:
        self._held[0].sendall(OK)

    def close(self) -> None:
        self._listener.close()
        for connection in self._held:
            connection.close()


@pytest.fixture
def target() -> Iterator[Target]:
    target = Target()
    yield target
    target.close()


def stopped_while_asking(start: Start, target: Target, tmp_path: Path, verdict: str, *, answered: bool) -> Run:
    """A service that was stopped across the deadline of its first attempt, and has read an answer after that."""
    probe = f"""
    readinessProbe:
      httpGet: {{host: 127.0.0.1, port: {target.port}}}
      timeoutSeconds: {TIMEOUT_SECONDS}
      periodSeconds: 1
"""
    (tmp_path / "web.yaml").write_text(manifest("web", f"starved-{tmp_path.name}", probe=probe))
    (tmp_path / "c.yaml").write_text(CONFIG % verdict)
    run = start(str(tmp_path / "web.yaml"), "--config", str(tmp_path / "c.yaml"))
    target.prober.set_result(run)
    wait_for(target.stopped.is_set, "the first request")
    if answered:
        target.answer()
    time.sleep(STOPPED_SECONDS)
    run.signal(signal.SIGCONT)
    wait_for(lambda: run.status()["web"]["ready"], "a success")
    return run


def probe_of(run: Run) -> dict[str, int]:
    found: dict[str, int] = run.status()["web"]["containers"][0]["probes"]["readiness"]
    return found


def starved(run: Run) -> int:
    """The number of attempts on /metrics."""
    with urllib.request.urlopen(f"{run.url}/metrics", timeout=20) as answer:
        page = answer.read().decode()
    found = re.search(r'^probelet_probe_attempts_total\{cause="starved"\} (\d+)$', page, re.MULTILINE)
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize(("verdict", "counts"), [("failure", True), ("unknown", False)])
def test_a_timeout_of_a_stopped_prober_is_marked_starved_and_counts_as_configured(
    start: Start, target: Target, tmp_path: Path, verdict: str, counts: bool
) -> None:
    run = stopped_while_asking(start, target, tmp_path, verdict, answered=False)
    assert starved(run) >= 1
    assert bool(probe_of(run)["failures"]) == counts
    assert probe_of(run)["errors"] == 0, "a prober error is tried again at once, and that went well"
    message = run.line("prober starved")
    assert message["level"] == "warning"
    assert "readiness probe of default/web, container app" in message["message"]


def test_an_answer_that_came_while_the_prober_was_stopped_is_a_success(
    start: Start, target: Target, tmp_path: Path
) -> None:
    run = stopped_while_asking(start, target, tmp_path, "failure", answered=True)
    assert starved(run) == 0
    assert probe_of(run)["failures"] == 0
    assert not any("prober starved" in line["message"] for line in run.log_lines)
