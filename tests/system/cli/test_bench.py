"""``probelet bench`` as a user runs it: its own target in a process of its own, and Ctrl-C."""

import json
import signal
import subprocess
import sys

import pytest

from tests.support.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.e2e

FIELDS = {
    *("schema", "scenario", "workers", "probes", "probes_per_second", "cpu_us_per_probe", "false_failures"),
    *("lateness_ms", "lateness_stamped_by", "bytes_per_worker", "add_ms"),
}


def bench(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "probelet", "bench", *arguments]


@pytest.mark.parametrize("handler", ["http", "https", "tcp", "grpc", "exec"])
def test_every_handler_is_measured_without_a_false_failure(handler: str) -> None:
    ended = subprocess.run(
        bench(handler, "--workers", "5", "--duration", "1100ms", "--warm", "1s", "-o", "json"),
        capture_output=True,
        text=True,
        check=True,
    )
    seen = json.loads(ended.stdout)
    assert seen.keys() >= FIELDS
    assert (seen["schema"], seen["scenario"], seen["workers"]) == ("probelet-bench/1", handler, 5)
    assert seen["probes"] > 0
    assert seen["false_failures"] == 0


def test_ctrl_c_ends_the_bench_with_its_figures_so_far_and_leaves_no_target() -> None:
    with subprocess.Popen(
        bench("tcp", "--workers", "5", "--duration", "1h", "--warm", "100ms"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        while "measuring" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert "interrupted; these are the figures so far" in err
    assert "Traceback" not in err
    assert out.startswith("tcp: 5 workers at 1 s for ")
    targets = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True, check=True).stdout
    assert not [line for line in targets.splitlines() if line.split()[0] == str(process.pid)]


def test_without_a_target_every_probe_is_a_false_failure() -> None:
    ended = subprocess.run(
        bench("tcp", "--workers", "2", "--duration", "1100ms", "--warm", "1s", "--target", "127.0.0.1:9", "-o", "json"),
        capture_output=True,
        text=True,
        check=True,
    )
    seen = json.loads(ended.stdout)
    assert seen["false_failures"] == seen["probes"] > 0
