"""The messages of ``probelet run`` to systemd, from its start to its end, over a real datagram socket."""

import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from tests.support.patience import PATIENCE_SECONDS
from tests.system.cli.conftest import Run, Start, manifest, wait_for
from tests.system.cli.run.test_run_life import DEAF, page

pytestmark = pytest.mark.e2e

# Ten watchdog messages a second.
WATCHDOG_MICROSECONDS = 200_000
SIGNS = 5


Words = SimpleQueue[str]


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Words]:
    """Every message in the order in which the service sent it.

    A thread reads all the time, as systemd does: the kernel keeps ten datagrams of a socket that nobody reads, and the
    service drops the ones after them.
    """
    words: Words = SimpleQueue()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", str(WATCHDOG_MICROSECONDS))

        def read() -> None:
            while word := sock.recv(4096):
                words.put(word.decode())

        reader = threading.Thread(target=read)
        reader.start()
        yield words
        sock.shutdown(socket.SHUT_RDWR)
        reader.join()


def next_words(systemd: Words, count: int) -> list[str]:
    return [systemd.get(timeout=PATIENCE_SECONDS) for _ in range(count)]


def until(systemd: Words, word: str) -> list[str]:
    """The messages before the given one."""
    before = []
    while (heard := systemd.get(timeout=PATIENCE_SECONDS)) != word:
        before.append(heard)
    return before


def test_watchdog_messages_begin_with_readiness_and_continue_during_the_drain(
    start: Start, systemd: Words, tmp_path: Path, marker: str
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
