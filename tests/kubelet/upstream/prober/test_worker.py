"""kubelet prober/worker_test.go, 1.36: rows W1 to W8, W15 and W19 to W33."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.kubelet.upstream.row import row
from tests.kubelet.upstream.worker import HOUR_MS, INITIAL, OTHER_ID, TYPES, UID, ProbeType, Worker


@dataclass(frozen=True)
class Case:
    """A case of TestDoProbe: the status, the probe types whose worker stops, and the last result that a worker sets."""

    id: str
    name: str
    status: dict[str, Any] | None
    stops: tuple[ProbeType, ...]
    cached: str | None
    probe: dict[str, Any] | None = None
    deleting: bool = False


DO_PROBE = [
    Case("W1", "no status", None, (), None),
    Case("W2", "pod failed", {"phase": "Failed"}, TYPES, None),
    Case("W3", "pod deletion", {}, ("liveness", "startup"), "Success", deleting=True),
    Case("W4", "no container status", {"name": "another-container"}, (), None),
    Case("W5", "container waiting", {"state": "waiting"}, (), "Failure"),
    Case("W6", "container terminated", {"state": "terminated", "exit_code": 0}, TYPES, "Failure"),
    Case("W7", "probe success", {}, (), "Success"),
    Case("W8", "initial delay passed", {}, (), "Success", probe={"initialDelaySeconds": -100}),
]
CASES = [
    pytest.param(case, probe_type, id=f"{case.id}-{case.name}-{probe_type}")
    for case in DO_PROBE
    for probe_type in TYPES
]


def do_probe(case: Case, probe_type: ProbeType, version: str) -> Worker:
    worker = Worker(probe_type, version=version, probe=case.probe, deleting=case.deleting)
    if case.status is not None:
        worker.status(**case.status)
    assert worker.do_probe() == (probe_type not in case.stops)
    # A worker that ends removes its result from the cache, so compare the last value that it set.
    assert worker.published[-1:] == ([case.cached] if case.cached else [])
    assert worker.cached == (None if probe_type in case.stops else case.cached)
    return worker


@pytest.mark.parametrize(("case", "probe_type"), CASES)
def test_do_probe(case: Case, probe_type: ProbeType) -> None:
    worker = do_probe(case, probe_type, "1.36")
    probed = case.id in ("W7", "W8") or (case.id == "W3" and probe_type == "readiness")
    assert worker.runs == probed


@pytest.mark.parametrize(
    ("case", "probe_type", "version"),
    [
        pytest.param(*param.values, version, id=f"W15-ContainerRestartRules {state}-{param.id}")
        for param in CASES
        for state, version in (("off", "1.34"), ("on", "1.35"))
    ],
)
def test_do_probe_with_container_restart_rules(case: Case, probe_type: ProbeType, version: str) -> None:
    do_probe(case, probe_type, version)


@pytest.mark.parametrize("probe_type", [pytest.param(each, id=f"W19-{each}") for each in TYPES])
def test_initial_delay(probe_type: ProbeType) -> None:
    worker = Worker(probe_type, probe={"initialDelaySeconds": 10})
    worker.status()
    assert worker.do_probe()
    assert (worker.cached, worker.runs) == (INITIAL[probe_type], 0)
    worker.status(started_at_ms=-100_000)
    assert worker.do_probe()
    assert worker.cached == "Success"


@row("W20")
def test_failure_threshold(row: str) -> None:
    worker = Worker("readiness", probe={"failureThreshold": 3})
    worker.status()
    for _round in range(2):
        assert worker.after(*["success"] * 3) == ["Success"] * 3
        assert worker.after(*["failure"] * 2) == ["Success"] * 2
        assert worker.after(*["failure"] * 3) == ["Failure"] * 3


@row("W21")
def test_success_threshold(row: str) -> None:
    worker = Worker("readiness", probe={"successThreshold": 3})
    worker.status()
    for _round in range(2):
        assert worker.after(*["success"] * 2) == ["Failure"] * 2
        assert worker.after(*["success"] * 3) == ["Success"] * 3
        assert worker.after("failure") == ["Failure"]


@row("W22")
def test_startup_probe_success_threshold(row: str) -> None:
    worker = Worker("startup", probe={"failureThreshold": 3})
    worker.status()
    assert worker.after("success", "failure", "failure", "failure") == ["Success"] * 4
    assert worker.runs == 1, "on hold after the first run"


@row("W23")
def test_startup_probe_failure_threshold(row: str) -> None:
    worker = Worker("startup", probe={"failureThreshold": 3})
    worker.status()
    assert worker.after("failure", "failure", "failure", "success") == ["Unknown", "Unknown", "Failure", "Failure"]
    assert worker.runs == 3, "on hold after the third run"


@pytest.mark.parametrize("probe_type", [pytest.param(each, id=f"W24-{each}") for each in TYPES])
def test_clean_up(probe_type: ProbeType) -> None:
    worker = Worker(probe_type)
    worker.status()
    assert worker.do_probe()
    assert worker.cached == "Success"
    for _ in range(10):
        worker.simulation.remove_pod(UID)
    worker.simulation.settle()
    assert not worker.alive
    assert worker.cached is None
    worker.simulation.run_until(HOUR_MS)
    assert worker.simulation.runs == 1, "the worker left no timer"


@pytest.mark.parametrize("probe_type", [pytest.param(each, id=f"W25-{each}") for each in ("liveness", "startup")])
def test_on_hold_on_liveness_or_startup_check_failure(probe_type: ProbeType) -> None:
    worker = Worker(probe_type)
    worker.status()
    assert worker.after("failure", "success") == ["Failure", "Failure"]
    assert worker.runs == 1, "the handler is not called on hold"
    worker.status(container_id=OTHER_ID)
    worker.do_probe()
    assert (worker.cached, worker.simulation.result(probe_type, OTHER_ID)) == (None, "Success")
    worker.handler("failure")
    worker.do_probe()
    holds = probe_type == "startup"
    assert worker.simulation.result(probe_type, OTHER_ID) == ("Success" if holds else "Failure")
    assert worker.runs == (2 if holds else 3)


@row("W26")
def test_result_run_on_liveness_check_failure(row: str) -> None:
    worker = Worker("liveness", probe={"failureThreshold": 3})
    worker.status()
    outcomes = ["success", "failure", "failure", "failure"]
    assert worker.after(*outcomes) == ["Success", "Success", "Success", "Failure"]


@row("W27")
def test_result_run_on_startup_check_failure(row: str) -> None:
    worker = Worker("startup", probe={"failureThreshold": 3})
    worker.status()
    assert worker.after("failure", "failure", "failure") == ["Unknown", "Unknown", "Failure"]


@pytest.mark.parametrize(
    ("sidecar", "goes_on"),
    [
        pytest.param(True, True, id="W28-terminated sidecar with pod restartPolicy Never"),
        pytest.param(False, False, id="W29-terminated regular container with pod restartPolicy Never"),
    ],
)
def test_do_probe_terminated_container(sidecar: bool, goes_on: bool) -> None:
    worker = Worker("startup", sidecar=sidecar)
    worker.status("terminated", exit_code=0)
    assert worker.do_probe() == goes_on
    assert worker.published[-1] == "Failure"


@row("W30")
def test_liveness_probe_disabled_by_started(row: str) -> None:
    worker = Worker("liveness")
    worker.status(started=False)
    assert worker.after("failure") == ["Success"]
    assert worker.runs == 0
    worker.status(started=True)
    assert worker.after("failure") == ["Failure"]


@row("W31")
def test_startup_probe_disabled_by_started(row: str) -> None:
    worker = Worker("startup", probe={"failureThreshold": 2})
    worker.status(started=False)
    assert worker.after("failure", "success") == ["Unknown", "Success"]
    worker.status(started=True)
    assert worker.after("failure") == ["Success"]
    assert worker.runs == 2


FIVE_MINUTES_MS = 300_000
GATES = {"on": "1.34", "off": "1.36"}


@pytest.mark.parametrize(
    ("version", "offset_ms", "probe_type", "cached"),
    [
        pytest.param(
            version,
            FIVE_MINUTES_MS if age == "new" else -FIVE_MINUTES_MS,
            probe_type,
            None if (gate, age) == ("off", "old") else INITIAL[probe_type],
            id=f"W32-ChangeContainerStatusOnKubeletRestart {gate}-{age} container-{probe_type}",
        )
        for gate, version in GATES.items()
        for age in ("old", "new")
        for probe_type in TYPES
    ],
)
def test_change_container_status_on_kubelet_restart(
    version: str, offset_ms: int, probe_type: ProbeType, cached: str | None
) -> None:
    worker = Worker(probe_type, version=version, probe={"initialDelaySeconds": 2 * HOUR_MS // 1000})
    worker.status(started_at_ms=-HOUR_MS + offset_ms)
    assert worker.do_probe()
    assert (worker.cached, worker.runs) == (cached, 0)


@pytest.mark.parametrize(
    ("probe_type", "cached"),
    [
        pytest.param("startup", "Success", id="W33-startup"),
        pytest.param("liveness", None, id="W33-liveness"),
        pytest.param("readiness", None, id="W33-readiness"),
    ],
)
def test_sidecar_on_kubelet_restart(probe_type: ProbeType, cached: str | None) -> None:
    worker = Worker(probe_type, sidecar=True, probe={"initialDelaySeconds": 2 * HOUR_MS // 1000})
    worker.status(started=True, started_at_ms=-HOUR_MS - FIVE_MINUTES_MS)
    assert worker.do_probe()
    assert (worker.cached, worker.runs) == (cached, 0)
