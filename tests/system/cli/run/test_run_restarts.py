"""Restarts on real processes beside the kubelet's back-off: retry, reset, the node's
budget, curves of single containers, dependencies, and what a restart of the service keeps.

Waits that must not end by themselves are an hour; nothing is judged by how long it took, but for never being early.
"""

import json
import re
import signal
import urllib.request
from contextlib import suppress
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.system.cli.conftest import Run, Start, wait_for

pytestmark = pytest.mark.e2e

OPT_INS = "apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\n"
HOUR = "containerBackoffAnnotations: true\ncontainerBackoffMin: 1ms\ncontainerBackoffMax: 1h\n"
NOT_THERE = {"restart_count": -1, "state": "", "backoff": None, "probes": {"readiness": {"failures": 0}}}
CRASH = "date +%s.%N; exit 1"
CRASH_ONCE = "date +%s.%N; test -e {here}/{name} && exec sleep 86400; touch {here}/{name}; date +%s.%N; exit 1"


def pod(name: str, marker: str, annotations: dict[str, str] | None = None, **scripts: str) -> dict[str, Any]:
    """A pod whose containers each run a script."""
    containers = [{"name": each, "command": ["sh", "-c", text, marker]} for each, text in scripts.items()]
    metadata = {
        "name": name,
        "annotations": {f"probelet.dev/{key}": value for key, value in (annotations or {}).items()},
    }
    spec = {"terminationGracePeriodSeconds": 1, "containers": containers}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def node(start: Start, folder: Path, opt_ins: str, *pods: dict[str, Any], state_dir: Path | None = None) -> Run:
    (folder / "config.yaml").write_text(OPT_INS + opt_ins)
    manifests = folder / "pods.json"
    manifests.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(pods)}))
    run = start(str(manifests), "--config", str(folder / "config.yaml"), state_dir=state_dir)
    run.line("listening")
    return run


def container(run: Run, pod_name: str, name: str = "app") -> dict[str, Any]:
    rows = run.status().get(pod_name, {}).get("containers", [])
    return next((row for row in rows if row["name"] == name), NOT_THERE)


def waits(run: Run, pod_name: str, restarts: int, name: str = "app") -> dict[str, Any]:
    """Waits until the container has ``restarts`` restarts and waits for its next start."""

    def look() -> dict[str, Any] | None:
        row = container(run, pod_name, name)
        return row if row["restart_count"] == restarts and row["backoff"] else None

    found: dict[str, Any] = wait_for(look, f"{pod_name}/{name} to wait after {restarts} restarts")
    return found


def runs(run: Run, pod_name: str, restarts: int) -> None:
    def look() -> bool:
        row = container(run, pod_name)
        return row["restart_count"] == restarts and row["state"] == "running"

    wait_for(look, f"{pod_name} to run after {restarts} restarts")


def metric(run: Run, name: str) -> float:
    with urllib.request.urlopen(f"{run.url}/metrics", timeout=10) as answer:
        found = re.search(rf"^{re.escape(name)} (\S+)$", answer.read().decode(), re.M)
    assert found is not None, name
    return float(found[1])


def message(run: Run, pod_name: str, name: str = "app") -> dict[int, list[Decimal]]:
    """The times that each instance has printed so far; the logs of old instances go."""
    times = {}
    for path in (run.state_dir / "logs").glob(f"*/default_{pod_name}_*/{name}/*.log"):
        with suppress(FileNotFoundError):
            whole, _, _ = path.read_text().rpartition("\n")
            times[int(path.stem)] = [Decimal(line.split(" ", 3)[3]) for line in whole.splitlines()]
    return times


def test_a_retry_starts_a_waiting_container_and_a_reset_also_forgets_its_delay(
    start: Start, tmp_path: Path, marker: str
) -> None:
    web = pod("web", marker, {"backoff": "app=1h/1h"}, app=CRASH, calm="exec sleep 86400")
    run = node(start, tmp_path, HOUR, web)
    assert waits(run, "web", 1)["backoff"]["delay_seconds"] == 3600, "the first restart was free"

    retried = run.verb("retry", "web")
    assert (retried.returncode, retried.stdout) == (0, "started: app\n")
    assert waits(run, "web", 2)["backoff"]["delay_seconds"] == 3600
    retried = run.verb("retry", "default/web", "app", "-o", "json")
    assert json.loads(retried.stdout)["containers"] == ["app"]
    waits(run, "web", 3)
    calm = run.verb("retry", "web", "calm")
    assert calm.returncode == 1, "it runs"
    resets = 'probelet_crashloop_backoff_resets_total{cause="operator"}'
    assert metric(run, resets) == 0

    reset = run.verb("reset", "web", "app")
    assert (reset.returncode, reset.stdout) == (0, "reset: app\n")
    row = waits(run, "web", 4)
    assert (row["backoff"]["delay_seconds"], row["backoff"]["step"]) == (3600, 1)
    assert metric(run, resets) == 1
    free = 'probelet_crashloop_restarts_total{reason="error",first="true"}'
    assert metric(run, free) == 2, "the first one, and the one after the reset"


def test_the_budget_of_the_node_delays_restarts_that_no_back_off_delays(
    start: Start, tmp_path: Path, marker: str
) -> None:
    names = ["a", "b", "c"]
    pods = [pod(name, marker, app=CRASH_ONCE.format(here=tmp_path, name=name)) for name in names]
    run = node(start, tmp_path, "restartBudget: {burst: 2, refill: 1h}\n", *pods)

    def rows() -> dict[str, dict[str, Any]]:
        return {name: container(run, name) for name in names}

    def settled() -> dict[str, dict[str, Any]] | None:
        found = rows()
        states = sorted((row["restart_count"], row["state"], row.get("reason")) for row in found.values())
        return found if [state[:2] for state in states] == [(0, "waiting"), (1, "running"), (1, "running")] else None

    found = wait_for(settled, "two restarts and one that waits")
    held = next(name for name, row in found.items() if row["state"] == "waiting")
    assert found[held]["reason"] == "RestartBudget"
    assert run.verb("retry", held).stdout == "started: app\n"
    runs(run, held, 1)


def test_a_budget_gives_one_restart_after_each_refill_and_none_early(start: Start, tmp_path: Path, marker: str) -> None:
    names = ["a", "b", "c", "d"]
    pods = [pod(name, marker, app=CRASH_ONCE.format(here=tmp_path, name=name)) for name in names]
    run = node(start, tmp_path, "restartBudget: {burst: 1, refill: 2s}\n", *pods)
    for name in names:
        runs(run, name, 1)
    lives = [wait_for(lambda name=name: (found := message(run, name)).get(1) and found, "its log") for name in names]
    ends = min(life[0][1] for life in lives)
    # The bucket is full until the first container ends; the n-th restart after the first needs n refills.
    begins = sorted(life[1][0] for life in lives)
    assert [begin - ends >= 2 * place for place, begin in enumerate(begins)] == [True] * 4


def test_a_container_restarts_on_the_curve_it_chose_beside_one_on_the_nodes(
    start: Start, tmp_path: Path, marker: str
) -> None:
    web = pod("web", marker, {"backoff": "quick=200ms/800ms"}, quick=CRASH, slow=CRASH)
    run = node(start, tmp_path, HOUR, web)
    begins: dict[int, Decimal] = {}

    def restarted() -> bool:
        begins.update((life, times[0]) for life, times in message(run, "web", "quick").items() if times)
        return max(begins, default=0) >= 6

    wait_for(restarted, "six restarts")
    assert container(run, "web", "slow")["restart_count"] < container(run, "web", "quick")["restart_count"]
    delays = [0, 200, 400, 800, 800, 800]
    gaps = {before: (begins[after] - begins[before]) * 1000 for before, after in pairwise(sorted(begins))}
    early = {life: gap for life, gap in gaps.items() if life < len(delays) and gap < delays[life]}
    assert early == {}


def test_a_dependency_that_turns_healthy_starts_the_waiting_container(
    start: Start, tmp_path: Path, marker: str
) -> None:
    web = pod("web", marker, {"backoff": "app=1h/1h", "release-on": "app=db/app/readiness"}, app=CRASH)
    idle = pod("idle", marker, {"backoff": "app=1h/1h"}, app=CRASH)
    db = pod("db", marker, app="exec sleep 86400")
    seen = {"exec": {"command": ["test", "-e", str(tmp_path / "up")]}}
    probe = {**seen, "periodSeconds": 1, "timeoutSeconds": 10, "failureThreshold": 1}
    db["spec"]["containers"][0]["readinessProbe"] = probe
    run = node(start, tmp_path, HOUR + "releaseOnDependency: true\n", web, idle, db)
    waits(run, "web", 1)
    waits(run, "idle", 1)
    wait_for(lambda: container(run, "db")["probes"]["readiness"]["failures"], "the database to be down")
    (tmp_path / "up").touch()
    waits(run, "web", 2)
    assert run.status()["db"]["ready"]
    assert waits(run, "idle", 1), "it names no dependency"


@pytest.mark.parametrize(("restore", "restarts"), [("kubelet", 1), ("full", 0)])
def test_a_restart_of_the_service_keeps_the_configured_state(
    start: Start, tmp_path: Path, marker: str, restore: str, restarts: int
) -> None:
    web = pod("web", marker, {"backoff": "app=1h/1h"}, app=CRASH)
    state_dir = tmp_path / "state"
    opt_ins = f"{HOUR}restore: {restore}\n"
    first = node(start, tmp_path, opt_ins, web, state_dir=state_dir)
    waits(first, "web", 1)
    first.signal(signal.SIGTERM)
    assert first.ended() == 0
    # The embedded runtime ended its containers with the service: the container starts for the first time again.
    second = node(start, tmp_path, opt_ins.replace("Max: 1h", "Max: 30m"), web, state_dir=state_dir)
    row = waits(second, "web", restarts)
    assert row["backoff"]["delay_seconds"] == 1800, "within what is allowed now"
    assert second.verb("retry", "web").returncode == 0
    waits(second, "web", restarts + 1)
