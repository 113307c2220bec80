"""``run`` from its start to its end: its sockets, its signals, and its remains."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_SECONDS
from tests.system.cli.conftest import Start, manifest, processes_with, wait_for

pytestmark = pytest.mark.e2e

# A shell that ignores SIGTERM as soon as it has made its file.
DEAF = "trap '' TERM; touch %s; sleep 86400; :"
READINESS = """
    readinessProbe:
      exec: {command: [test, -e, %s]}
      periodSeconds: 1
      timeoutSeconds: 10
"""


def page(url: str, accept: str = "*/*") -> tuple[int, str, str]:
    request = urllib.request.Request(url, headers={"Accept": accept})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Content-Type"], error.read().decode()


def test_a_pod_runs_is_probed_and_appears_in_every_view(start: Start, tmp_path: Path, marker: str) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker, probe=READINESS % (tmp_path / "ready")))
    run = start(str(tmp_path / "web.yaml"), "--node-name", "node-e2e")
    url = run.url
    wait_for(lambda: run.status()["web"]["containers"][0]["probes"]["readiness"]["failures"], "a failed probe")
    assert not run.status()["web"]["ready"]
    (tmp_path / "ready").touch()
    wait_for(lambda: run.status()["web"]["ready"], "the pod to be ready")

    status, content_type, text = page(f"{url}/statusz")
    assert (status, content_type) == (200, "application/json")
    assert (json.loads(text)["schema"], json.loads(text)["node"]) == ("probelet-status/1", "node-e2e")
    status, content_type, text = page(f"{url}/statusz", "text/html")
    assert (status, content_type) == (200, "text/html; charset=utf-8")
    assert text.startswith("<!doctype html>"), "it is led to the page for people"
    status, content_type, text = page(f"{url}/heartbeats")
    assert (status, content_type) == (200, "application/json")
    assert [each["name"] for each in json.loads(text)["rows"]] == ["web"]
    for path in ("/metrics", "/metrics/probes"):
        status, content_type, text = page(f"{url}{path}")
        assert (status, content_type.startswith("text/plain; version=0.0.4")) == (200, True)
    assert "prober_probe_total{" in page(f"{url}/metrics/probes")[2]
    assert page(f"{url}/healthz")[::2] == (200, "ok\n")
    assert page(f"{url}/readyz")[::2] == (200, "ok\n")

    table = run.verb("status").stdout.splitlines()
    assert table[0].startswith("node-e2e: 1 pod, 1 ready at ")
    assert table[2].split() == ["web", "1/1", "Running", "0", "R✓"]
    events = [json.loads(line) for line in run.verb("events", "-o", "json").stdout.splitlines()]
    assert {event["schema"] for event in events} == {"probelet-event/1"}
    assert {"Started", "Unhealthy"} <= {event["reason"] for event in events}
    assert not any("seq" in event for event in events)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_drains_and_leaves_nothing(start: Start, tmp_path: Path, marker: str, number: signal.Signals) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker))
    run = start(str(tmp_path / "web.yaml"))
    wait_for(lambda: processes_with(marker), "the pod's process")
    run.line("listening")
    run.signal(number)
    assert run.ended() == 0
    assert run.line("draining")["reason"] == number.name
    assert processes_with(marker) == []
    assert [path.name for path in run.state_dir.iterdir()] == ["logs"], "the logs of what has ended stay"


def test_draining_waits_for_the_grace_of_a_pod_that_ignores_sigterm(start: Start, tmp_path: Path, marker: str) -> None:
    (tmp_path / "deaf.yaml").write_text(manifest("deaf", marker, DEAF % (tmp_path / "deaf"), grace=3))
    run = start(str(tmp_path / "deaf.yaml"))
    wait_for((tmp_path / "deaf").exists, "the pod's process to be deaf")
    began = time.monotonic()
    run.signal(signal.SIGTERM)
    assert run.ended() == 0
    assert time.monotonic() - began > 2.5
    assert processes_with(marker) == []


def test_a_grace_of_all_the_time_there_is(start: Start, tmp_path: Path, marker: str) -> None:
    """A container that ends on SIGTERM ends at once; the drain waits for a deaf one until a second signal."""
    hook = "    lifecycle: {preStop: {exec: {command: ['true']}}}"
    for name, script in (
        ("deaf", DEAF % (tmp_path / "deaf")),
        ("polite", "trap 'exit 0' TERM; sleep 86400 & wait"),
    ):
        text = manifest(name, f"{marker}-{name}", script, grace=2**63 - 1, probe=hook)
        (tmp_path / f"{name}.yaml").write_text(text)
    run = start(str(tmp_path / "deaf.yaml"), str(tmp_path / "polite.yaml"))
    run.line("listening")
    for name in ("deaf", "polite"):
        wait_for(lambda name=name: run.status()[name]["phase"] == "Running", name)
    wait_for((tmp_path / "deaf").exists, "the pod's process to be deaf")
    run.signal(signal.SIGTERM)
    assert run.line("killing container")["grace_seconds"] == 2**63 - 1
    wait_for(lambda: not processes_with(f"{marker}-polite"), "the polite one to go")
    assert processes_with(f"{marker}-deaf")
    run.signal(signal.SIGTERM)
    assert run.ended() == 143
    assert processes_with(marker) == []
    assert not any(line["level"] == "error" for line in run.log_lines)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_second_signal_does_not_wait(
    start: Start, tmp_path: Path, marker: str, number: signal.Signals, code: int
) -> None:
    (tmp_path / "deaf.yaml").write_text(manifest("deaf", marker, DEAF % (tmp_path / "deaf"), grace=3600))
    run = start(str(tmp_path / "deaf.yaml"))
    url = run.url
    wait_for((tmp_path / "deaf").exists, "the pod's process to be deaf")
    run.signal(signal.SIGTERM)
    run.line("draining")
    assert page(f"{url}/readyz")[::2] == (503, "draining\n")
    assert processes_with(marker)
    run.signal(number)
    assert run.ended() == code
    assert processes_with(marker) == []
    assert [path.name for path in run.state_dir.iterdir()] == ["logs"], "the logs of what has ended stay"


def test_the_end_of_the_duration_drains(start: Start, tmp_path: Path, marker: str) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker))
    run = start(str(tmp_path / "web.yaml"), "--duration", "1s")
    assert run.ended() == 0
    assert run.line("draining")["reason"] == "end of --duration"
    assert processes_with(marker) == []


def test_a_killed_service_leaves_no_process_and_a_state_directory_that_works_again(
    start: Start, tmp_path: Path, marker: str
) -> None:
    (tmp_path / "deaf.yaml").write_text(manifest("deaf", marker, DEAF % (tmp_path / "deaf")))
    run = start(str(tmp_path / "deaf.yaml"))
    wait_for((tmp_path / "deaf").exists, "the pod's process to be deaf")
    run.process.kill()
    assert run.ended() == -signal.SIGKILL
    wait_for(lambda: not processes_with(marker), "the pod's process to be gone")
    assert run.verb("status").returncode == 3

    again = start(str(tmp_path / "deaf.yaml"), state_dir=run.state_dir)
    again.line("listening")
    wait_for(lambda: again.status()["deaf"]["phase"] == "Running", "the pod to run again")


def test_a_runtime_that_dies_ends_the_service(start: Start, tmp_path: Path, marker: str) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker))
    run = start(str(tmp_path / "web.yaml"))
    run.line("container started")
    children = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text().split()
    for child in map(int, children):
        os.kill(child, signal.SIGKILL)
    assert run.ended() == 3
    assert any(
        line["message"].startswith("the service died: the embedded runtime ended with") for line in run.log_lines
    )
    wait_for(lambda: not processes_with(marker), "the pod's process to be gone")


def test_a_follower_sees_the_end(start: Start, tmp_path: Path, marker: str) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker))
    run = start(str(tmp_path / "web.yaml"))
    run.line("container started")
    command = [sys.executable, "-m", "probelet", "events", "--follow", "-o", "json", "--state-dir", str(run.state_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as follower:
        assert follower.stdout is not None
        first = json.loads(follower.stdout.readline())
        assert first["schema"] == "probelet-event/1"
        run.signal(signal.SIGTERM)
        out, err = follower.communicate(timeout=PATIENCE_SECONDS)
    assert "Killing" in [json.loads(line)["reason"] for line in out.splitlines()]
    assert (follower.returncode, err.splitlines()[0]) == (
        3,
        f"probelet events: the service in {run.state_dir} has ended",
    )
