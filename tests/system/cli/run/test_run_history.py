"""The history of a probe outlives ``kill -9`` of the service."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from probelet._rust import read_journal

from tests.system.cli.conftest import Run, Start, wait_for

pytestmark = pytest.mark.e2e

CONFIG = "apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\nrestore: full\n"


def node(start: Start, folder: Path, state_dir: Path, marker: str) -> Run:
    probe = {"exec": {"command": ["sh", "-c", f"echo so; test -e {folder}/good"]}, "periodSeconds": 1}
    app = {"name": "app", "command": ["sleep", "86400", marker], "readinessProbe": probe}
    spec = {"terminationGracePeriodSeconds": 1, "containers": [app]}
    manifest = folder / "pod.json"
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec}))
    config = folder / "config.yaml"
    config.write_text(CONFIG)
    run = start(str(manifest), "--config", str(config), state_dir=state_dir)
    run.line("listening")
    return run


def history(run: Run) -> dict[str, Any]:
    document = json.loads(run.verb("status", "web", "--history", "-o", "json").stdout)
    [probe] = [row["probes"]["readiness"] for row in document["pods"][0]["containers"]]
    found: dict[str, Any] = probe.get("history") or {"attempts": [], "failures": []}
    return found


def journalled(state_dir: Path) -> list[str]:
    """The last result of each probe in the journal."""
    return [worker["last_result"] for worker in json.loads(read_journal(state_dir / "journal"))["workers"]]


def outcomes(run: Run) -> list[str]:
    return [attempt["outcome"] for attempt in history(run)["attempts"]]


def test_the_history_of_a_probe_outlives_a_kill_of_the_service(start: Start, tmp_path: Path, marker: str) -> None:
    state_dir = tmp_path / "state"
    run = node(start, tmp_path, state_dir, marker)
    wait_for(lambda: "failure" in outcomes(run), "a failure")
    (tmp_path / "good").touch()
    wait_for(lambda: run.status()["web"]["ready"], "readiness")
    before = history(run)
    wait_for(lambda: "Success" in journalled(state_dir), "the success in the journal")
    run.signal(signal.SIGKILL)
    run.ended()
    run = node(start, tmp_path, state_dir, marker)
    wait_for(lambda: outcomes(run), "the history")
    assert history(run)["failures"] == before["failures"]
    # Of a slow test's many failures the journal may lack some in the middle, not those before the success.
    kept = outcomes(run).index("success")
    assert "failure" in outcomes(run)[:kept]
    wait_for(lambda: outcomes(run)[kept:].count("success") > 2, "further attempts")
    drawn = run.verb("status", "web", "--history").stdout
    assert "default/web app readiness" in drawn
    assert "exec_exit: so" in drawn
    run.signal(signal.SIGTERM)
    assert run.ended() == 0
