"""``probelet run`` with a flight recorder: what a kill leaves can be played, and holds no secrets."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.system.cli.conftest import Run, Start, probelet, wait_for

pytestmark = pytest.mark.e2e

CONFIG = "apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\nflightRecorder: {size: 1Mi}\n"


def pod(name: str, command: str, threshold: int) -> dict[str, Any]:
    """A pod whose liveness probe is a command in the container, every second."""
    probe = {"exec": {"command": ["sh", "-c", command]}, "periodSeconds": 1, "timeoutSeconds": 30}
    probe |= {"failureThreshold": threshold}
    container = {"name": "app", "command": ["sh", "-c", "exec sleep 86400"], "livenessProbe": probe}
    spec = {"terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def started(start: Start, folder: Path) -> Run:
    (folder / "config.yaml").write_text(CONFIG)
    pods = [pod("steady", "exit 0", 3), pod("failing", "exit 1", 2)]
    (folder / "pods.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    run = start(str(folder / "pods.json"), "--config", str(folder / "config.yaml"), "--node-name", "node-a")
    run.line("listening")
    return run


def document(run: Run, *arguments: str) -> dict[str, Any]:
    ended = probelet("whatif", str(run.state_dir / "flight-recorder"), "-o", "json", *arguments)
    assert ended.stdout, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    # On a busy machine the prober is late, and a play that is not as late does not reproduce its results.
    assert ended.returncode == (0 if arguments or found["check"]["reproduced"] else 1), ended.stdout
    return found


def test_what_a_kill_leaves_gives_what_happened_and_what_would_have(start: Start, tmp_path: Path) -> None:
    run = started(start, tmp_path)
    folder = run.state_dir / "flight-recorder"
    wait_for(folder.is_dir, "a recording")

    def is_recorded() -> bool:
        ended = probelet("whatif", str(folder), "-o", "json")
        return bool(ended.stdout) and len(json.loads(ended.stdout)["restarts"]) >= 1

    wait_for(is_recorded, "a restart in the recording")
    run.process.kill()
    run.process.wait()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    real = document(run)
    assert (real["recording"]["node"], real["recording"]["lost"]) == ("node-a", 0)
    assert {row["outcome"] for row in real["restarts"]} == {"same"}
    assert {row["pod"] for row in real["restarts"]} == {"default/failing"}
    sooner = document(run, "--set", "failing/app.liveness.failureThreshold=1")
    assert sooner["restarts"][0]["outcome"] == "earlier"
    patient = document(run, "--set", "failing/app.liveness.failureThreshold=9")
    assert {row["outcome"] for row in patient["restarts"]} == {"avoided"}


def test_paths_headers_and_commands_are_not_recorded(start: Start, tmp_path: Path) -> None:
    run = started(start, tmp_path)
    folder = run.state_dir / "flight-recorder"
    wait_for(lambda: any(b"failing" in path.read_bytes() for path in folder.glob("*.segment")), "a recorded pod")
    run.process.kill()
    run.process.wait()
    written = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"exit 1" not in written
    assert b"sleep" not in written
