"""The C target keeps its schedule; every other test that uses it relies on that."""

import json
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.paths import BUILD
from tests.system.containerd.machine import until

pytestmark = pytest.mark.e2e

PROGRAM = BUILD / "target"


@contextmanager
def target(*behaviour: str, address: str = "") -> Iterator[tuple[subprocess.Popen[str], int]]:
    with subprocess.Popen([PROGRAM, f"{address}:0", *behaviour], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, int(process.stdout.readline().rpartition(":")[2])
        finally:
            process.kill()


def get(port: int, path: str = "/", host: str = "127.0.0.1", timeout: float = 5) -> int | str:
    """The status code, or the reason for a missing answer."""
    try:
        with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=timeout) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except urllib.error.URLError as error:
        return type(error.reason).__name__
    except (TimeoutError, ConnectionError) as error:
        # The target took the connection, and then did not answer.
        return type(error).__name__


def test_the_target_answers_on_every_loopback_address() -> None:
    with target() as (_, port):
        assert {get(port, host=host) for host in ("127.0.0.1", "127.1.2.3", "127.200.0.9")} == {200}


def test_a_schedule_moves_on_by_itself() -> None:
    with target("ok", "status=503@2", "crash=7@4") as (process, port):
        seen = [get(port)]

        def has_moved() -> bool:
            seen.append(get(port))
            return seen[-1] != 200

        until(has_moved, "the end of the first behaviour")
        assert (seen[0], seen[-1]) == (200, 503)
        assert process.wait() == 7


@pytest.mark.parametrize(
    ("behaviour", "seen"),
    [("hang", "TimeoutError"), ("deadlock@0.2", "TimeoutError"), ("refuse@0.2", "ConnectionRefusedError")],
)
def test_an_unhealthy_target_does_not_answer_well(behaviour: str, seen: str) -> None:
    with target(behaviour) as (_, port):
        while get(port, timeout=0.3) != seen:
            pass


def test_sigterm_ends_the_target_unless_the_target_ignores_it() -> None:
    with target() as (polite, _):
        polite.send_signal(signal.SIGTERM)
        assert polite.wait() == 0
    with target("ignore-term") as (deaf, port):
        deaf.send_signal(signal.SIGTERM)
        assert get(port) == 200


def test_the_target_counts_probes_by_pod() -> None:
    with target() as (_, port):
        for _ in range(3):
            get(port, host="127.1.0.5")
            get(port, "/p/9")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats") as answer:
            statistics = json.load(answer)
        assert (statistics["probes"], statistics["pods"]) == (6, 2)


def test_a_behaviour_that_does_not_exist_is_named() -> None:
    refused = subprocess.run([PROGRAM, ":0", "sleepy@3"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "sleepy@3" in refused.stderr
