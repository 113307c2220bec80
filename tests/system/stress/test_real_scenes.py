"""`probelet stress --real`: real processes under the node service, in a process of its own for each scene."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from probelet.lab.stress.play import play_real
from probelet.lab.stress.scene import Scene

pytestmark = pytest.mark.e2e

MS = 1_000_000


def test_a_real_scene_restarts_what_crashes_and_is_never_early() -> None:
    outcome = play_real(Scene("300ms/1s", pods=4, failing=0.5, policy="OnFailure", start_cost_ns=20 * MS), 6, 1)
    assert outcome.clock == "real"
    assert outcome.early == 0
    # Two pods crash; a busy machine starts them at most as often as the model.
    assert 0 < outcome.restarts <= (outcome.expected_restarts or 0)
    assert 0 < outcome.status_writes <= outcome.status_changes
    assert sum(outcome.writes_per_10_seconds) == outcome.status_writes
    assert sum(bucket.count for bucket in outcome.lateness) <= outcome.restarts
    assert 0 < outcome.memory.entries <= 4
    assert outcome.memory.entries_after_gc == 0
    assert outcome.memory.timers > 0
    cost = outcome.cost
    assert cost is not None
    assert cost.cpu_ms_per_restart > 0
    assert cost.runtime_cpu_ms_per_restart > 0
    assert 2**20 < cost.resident_bytes <= cost.resident_bytes_max
    assert cost.start_ms.p50 >= 20, "the start cost is a part of it"
    assert cost.start_decision_ms.p50 >= 0


def test_a_tight_api_client_delays_writes_and_no_restart() -> None:
    outcome = play_real(Scene("500ms/500ms", pods=12, api_qps=1), 6, 0)
    assert outcome.early == 0
    assert outcome.status_writes <= 2 + 7
    assert outcome.restarts > outcome.status_writes
    assert outcome.pods_waiting_max > 1


@pytest.mark.slow
def test_the_verb_plays_scenes_for_real_and_writes_a_report(tmp_path: Path) -> None:
    line = "stress --real --pods 2 --duration 3s --run 100ms --spread 500ms --repeat 2 -o json --report"
    ended = subprocess.run(
        [sys.executable, "-m", "probelet", *line.split(), str(tmp_path / "report")],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    outcome: dict[str, Any] = json.loads(ended.stdout)["outcomes"][0]
    assert (outcome["clock"], outcome["early"]) == ("real", 0)
    low, high = outcome["cost"]["cpu_ms_per_restart_range"]
    assert low <= outcome["cost"]["cpu_ms_per_restart"] <= high
    assert (tmp_path / "report" / "report.md").exists()


@pytest.mark.slow
def test_a_probe_that_kills_is_played_too() -> None:
    outcome = play_real(Scene("1/60", pods=2, kill_ns=1_000 * MS), 10, 0)
    assert outcome.early == 0
    assert outcome.restarts > 0
