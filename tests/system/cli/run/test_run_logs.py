"""``probelet logs`` beside a service and after its end."""

import json
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_SECONDS
from tests.system.cli.conftest import Run, Start, manifest, probelet, wait_for

pytestmark = pytest.mark.e2e

TICKING = "echo begin; n=0; while :; do n=$((n+1)); echo tick $n; sleep 0.05; done"


def wait_for_line(run: Run, line: str) -> None:
    """Waits for a line in the file of ``app``: a start of the verb for each look would take most of the time."""

    def is_there() -> bool:
        # The file may get another name at any moment, because it has become too long.
        with suppress(FileNotFoundError):
            return any(line in path.read_text() for path in (run.state_dir / "logs").glob("*/*/app/0.log"))
        return False

    wait_for(is_there, f"the line {line!r}")


def follower(state_dir: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "probelet", "logs", "web", "-f", "--state-dir", str(state_dir)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_logs_are_there_while_the_pod_runs_and_when_the_service_has_ended(
    start: Start, tmp_path: Path, marker: str, ending: signal.Signals
) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker, TICKING, grace=1))
    run = start(str(tmp_path / "web.yaml"))
    wait_for_line(run, " tick 2\n")
    assert run.verb("logs", "web").stdout.startswith("begin\ntick 1\ntick 2\n")
    assert run.verb("logs", "web", "--previous").returncode == 1
    run.signal(ending)
    run.ended()
    after = run.verb("logs", "web")
    assert (after.returncode, after.stdout.splitlines()[:3]) == (0, ["begin", "tick 1", "tick 2"])
    assert "has ended" in after.stderr
    (directory,) = (run.state_dir / "logs").iterdir()
    assert (
        probelet("logs", "web", "--from", str(directory), "--tail", "1").stdout == after.stdout.splitlines()[-1] + "\n"
    )


def test_a_follower_ends_with_its_reader_its_signals_and_its_container(
    start: Start, tmp_path: Path, marker: str
) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker, TICKING, grace=1))
    run = start(str(tmp_path / "web.yaml"))
    run.line("container started")
    with ExitStack() as stack:
        followers = [stack.enter_context(follower(run.state_dir)) for _ in range(4)]
        stack.callback(lambda: [one.kill() for one in followers])
        for one in followers:
            assert one.stdout is not None
            assert one.stdout.readline() == "begin\n"
        interrupted, terminated, unread, patient = followers
        interrupted.send_signal(signal.SIGINT)
        terminated.send_signal(signal.SIGTERM)
        assert unread.stdout is not None
        unread.stdout.close()
        assert interrupted.wait(PATIENCE_SECONDS) == 0
        assert terminated.wait(PATIENCE_SECONDS) == -signal.SIGTERM
        assert unread.wait(PATIENCE_SECONDS) == 0
        assert patient.poll() is None
        run.signal(signal.SIGTERM)
        assert patient.stdout is not None
        out = patient.stdout.read()
    ticks = [int(line.removeprefix("tick ")) for line in out.splitlines()]
    assert ticks == list(range(1, len(ticks) + 1)), "no line is missing, and none comes twice"


def test_a_chatty_container_keeps_within_the_limits_of_the_configuration(
    start: Start, tmp_path: Path, marker: str
) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker, "seq 40000; exec sleep 86400", grace=1))
    (tmp_path / "config.yaml").write_text(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
        "containerLogMaxSize: 400Ki\ncontainerLogMaxFiles: 3\n"
    )
    run = start(str(tmp_path / "web.yaml"), "--config", str(tmp_path / "config.yaml"))
    wait_for_line(run, " 40000\n")
    printed = run.verb("logs", "web").stdout.splitlines()
    assert [int(line) for line in printed] == list(range(int(printed[0]), 40_001))
    files = list((run.state_dir / "logs").glob("*/*/app/*"))
    assert len(files) == 3
    assert all(file.stat().st_size <= 400 * 1024 for file in files)
    assert json.loads(run.verb("status", "-o", "json").stdout)["pods"][0]["ready"]
