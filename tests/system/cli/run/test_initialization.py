"""``initializationFailureThreshold`` (KEP-950) on real processes: it applies only until the first success."""

from pathlib import Path
from typing import Any

import pytest

from tests.system.cli.conftest import Run, Start, manifest, wait_for

pytestmark = pytest.mark.e2e

FIELD = """
    livenessProbe:
      exec: {command: [test, -e, %s]}
      periodSeconds: 1
      failureThreshold: 2
      initializationFailureThreshold: %d
"""
THRESHOLD = "      initializationFailureThreshold: %d\n"
ANNOTATION = "metadata: {name: web, annotations: {probelet.dev/initialization-failure-threshold: app/liveness=%d}}"


def liveness(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = run.status()["web"]["containers"][0]["probes"]["liveness"]
    return found


def restarts(run: Run) -> int:
    return int(run.status()["web"]["containers"][0]["restart_count"])


@pytest.mark.parametrize("form", ["field", "annotation"])
def test_a_slow_starter_is_given_time_once(start: Start, tmp_path: Path, marker: str, form: str) -> None:
    ready = tmp_path / "ready"
    text = manifest("web", marker, grace=2, probe=FIELD % (ready, 3600))
    if form == "annotation":
        text = text.replace(THRESHOLD % 3600, "").replace("metadata: {name: web}", ANNOTATION % 3600)
    (tmp_path / "web.yaml").write_text(text)
    run = start(str(tmp_path / "web.yaml"))
    run.line("listening")
    wait_for(lambda: liveness(run)["failures"] >= 4, "more failures than failureThreshold")
    assert (restarts(run), liveness(run)["failure_threshold"]) == (0, 3600)
    ready.touch()
    wait_for(lambda: liveness(run)["last"]["outcome"] == "success", "the first success")
    failures = liveness(run)["failures"]
    assert liveness(run)["failure_threshold"] == 2, "the threshold in force"
    ready.unlink()
    run.line("killing container")
    wait_for(lambda: restarts(run) == 1, "the restart")
    assert liveness(run)["failures"] >= failures + 2
    # The threshold applies to the new container as to the first one.
    wait_for(lambda: liveness(run)["result_run"] >= 4, "its failures")
    assert restarts(run) == 1


def test_a_container_that_never_starts_is_killed_at_the_threshold(start: Start, tmp_path: Path, marker: str) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker, grace=2, probe=FIELD % (tmp_path / "never", 4)))
    run = start(str(tmp_path / "web.yaml"))
    run.line("killing container")
    events = run.verb("events", "-o", "json").stdout
    assert "Container app failed liveness probe, will be restarted" in events
    assert liveness(run)["failures"] >= 4
