"""What systemd hears of ``probelet run`` from its start to its end, over a real datagram socket."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.cli.conftest import PATIENCE_SECONDS, Run, Start, manifest, wait_for
from tests.system.cli.test_run_life import DEAF, page

pytestmark = pytest.mark.e2e

# Ten signs of life a second.
WATCHDOG_MICROSECONDS = 200_000
SIGNS = 5


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        sock.settimeout(PATIENCE_SECONDS)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", str(WATCHDOG_MICROSECONDS))
        yield sock


def next_words(systemd: socket.socket, count: int) -> list[str]:
    return [systemd.recv(4096).decode() for _ in range(count)]


def until(systemd: socket.socket, word: str) -> list[str]:
    """What is heard before that word."""
    before = []
    while (heard := systemd.recv(4096).decode()) != word:
        before.append(heard)
    return before


def test_signs_of_life_begin_when_it_serves_and_go_on_while_it_drains(
    start: Start, systemd: socket.socket, tmp_path: Path, marker: str
) -> None:
    (tmp_path / "deaf.yaml").write_text(manifest("deaf", marker, DEAF % (tmp_path / "deaf"), grace=3600))
    run: Run = start(str(tmp_path / "deaf.yaml"))
    assert next_words(systemd, 1) == ["READY=1"]
    assert page(f"{run.url}/readyz")[::2] == (200, "ok\n"), "it serves when it says so"
    assert "deaf" in run.status()
    assert next_words(systemd, SIGNS) == ["WATCHDOG=1"] * SIGNS
    wait_for((tmp_path / "deaf").exists, "the pod's process to be deaf")

    run.signal(signal.SIGTERM)
    assert set(until(systemd, "STOPPING=1")) <= {"WATCHDOG=1"}
    assert next_words(systemd, SIGNS) == ["WATCHDOG=1"] * SIGNS
    assert page(f"{run.url}/readyz")[::2] == (503, "draining\n")
    assert run.process.poll() is None, "the grace is an hour"

    run.signal(signal.SIGTERM)
    assert run.ended() == 143
