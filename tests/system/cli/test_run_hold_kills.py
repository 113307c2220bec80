"""The example of kills that wait, played with real processes."""

import json
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.support.paths import ROOT
from tests.system.cli.conftest import Run, Start, wait_for
from tests.system.cli.test_run_incidents import free_port

pytestmark = pytest.mark.e2e

EXAMPLES = ROOT / "examples"
WAITING = {"cart", "orders", "web"}


def untouched(run: Run) -> dict[str, Any]:
    """The kills that wait of containers that were never restarted, by workload. The trial waits too, later."""
    return {
        workload(name): container["held"]
        for name, container in app_of(run)
        if "held" in container and not container["restart_count"]
    }


def app_of(run: Run) -> list[tuple[str, dict[str, Any]]]:
    """The only container of each pod, with the pod's name."""
    return [(name, pod["containers"][0]) for name, pod in run.status().items()]


def all_have_answered(run: Run) -> bool:
    probes = [probe for _, container in app_of(run) for probe in container["probes"].values()]
    return len(probes) == 5 and all(probe["beats"].endswith(".") for probe in probes)


def workload(pod: str) -> str:
    return pod.partition("-")[0]


def metric(run: Run, series: str) -> float | None:
    with urlopen(f"{run.url}/metrics") as page:
        lines = page.read().decode().splitlines()
    return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{series} ")), None)


def events(run: Run, reason: str) -> list[str]:
    """The workloads with an event of that reason."""
    lines = run.verb("events", "-o", "json").stdout.splitlines()
    found = [event for line in lines if (event := json.loads(line))["reason"] == reason]
    return [workload(event["object"].partition("/")[2]) for event in found]


def played(start: Start, folder: Path) -> tuple[Run, Path, int]:
    """The example with a port and files of its own, which other tests and people may use otherwise."""
    slow, port = folder / "slow", free_port()
    database = folder / "database.py"
    server = (EXAMPLES / "incidents" / "database.py").read_text()
    database.write_text(server.replace("/tmp/slow", str(slow)).replace("5432", str(port)))
    pods = (EXAMPLES / "hold-kills" / "pods.yaml").read_text()
    path = folder / "pods.yaml"
    path.write_text(pods.replace("5432", str(port)).replace("examples/incidents/database.py", str(database)))
    run = start(str(path), "--config", str(EXAMPLES / "hold-kills" / "probelet.yaml"))
    run.line("listening")
    return run, slow, port


def test_the_example_restarts_one_and_the_others_wait(start: Start, tmp_path: Path) -> None:
    run, slow, port = played(start, tmp_path)
    wait_for(lambda: all_have_answered(run), "an answer of each probe")
    slow.touch()
    # Three workloads ask the database and may wait: one of them is the trial, for half a minute.
    waiting = wait_for(lambda: found if len(found := untouched(run)) == 2 else None, "two kills that wait")
    text = run.verb("status").stdout
    slow.unlink()
    assert set(waiting) < WAITING
    [incident] = {each["incident"] for each in waiting.values()}
    assert text.count(f"Held: incident {incident} (shared target 127.0.0.1:{port}), ") >= 2
    wait_for(lambda: metric(run, "probelet_kills_held") == 0, "the end of the waits")
    assert set(events(run, "KillHeld")) >= set(waiting)
    assert (metric(run, 'probelet_kills_held_total{end="recovered"}') or 0) >= 2
    wait_for(lambda: metric(run, 'probelet_incident_open{kind="shared"}') == 0, "the end of the incident")
    # Killed were the trial, and the workload that chose never to wait.
    assert set(events(run, "Killing")) == WAITING - set(waiting) | {"batch"}
