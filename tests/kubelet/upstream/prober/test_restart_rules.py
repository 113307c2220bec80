"""kubelet prober/worker_test.go, 1.36: when a worker outlives its terminated container. Rows W9 to W14, W16 to W18."""

from typing import Any

import pytest

from tests.kubelet.upstream.worker import TYPES, ProbeType, Worker


def rule(action: str, *codes: int) -> list[dict[str, Any]]:
    return [{"action": action, "exitCodes": {"operator": "In", "values": list(codes)}}]


RULES: list[tuple[str, str, dict[str, Any], int, bool]] = [
    ("W9", "OnFailure and exit 1", {"restartPolicy": "OnFailure"}, 1, True),
    ("W10", "OnFailure and exit 0", {"restartPolicy": "OnFailure"}, 0, False),
    ("W11", "Always and exit 1", {"restartPolicy": "Always"}, 1, True),
    ("W11", "Always and exit 0", {"restartPolicy": "Always"}, 0, True),
    ("W12", "Never and exit 1", {"restartPolicy": "Never"}, 1, False),
    ("W12", "Never and exit 0", {"restartPolicy": "Never"}, 0, False),
    ("W13", "rule for 1 and exit 1", {"restartPolicy": "Never", "restartPolicyRules": rule("Restart", 1)}, 1, True),
    ("W14", "rule for 99 and exit 1", {"restartPolicy": "Never", "restartPolicyRules": rule("Restart", 99)}, 1, False),
    (
        "W16",
        "rule of its own restarts all containers",
        {"restartPolicy": "Never", "restartPolicyRules": rule("RestartAllContainers", 1)},
        1,
        True,
    ),
]


@pytest.mark.parametrize(
    ("container", "exit_code", "goes_on", "probe_type"),
    [
        pytest.param(container, code, goes_on, probe_type, id=f"{row}-{name}-{probe_type}")
        for row, name, container, code, goes_on in RULES
        for probe_type in TYPES
    ],
)
def test_do_probe_with_container_restart_rules(
    container: dict[str, Any], exit_code: int, goes_on: bool, probe_type: ProbeType
) -> None:
    worker = Worker(probe_type, container=container)
    worker.status("terminated", exit_code=exit_code)
    assert worker.do_probe() == goes_on
    assert worker.published[-1] == "Failure"


@pytest.mark.parametrize("probe_type", [pytest.param(each, id=f"W17-{each}") for each in TYPES])
def test_a_worker_goes_on_if_another_containers_rule_restarts_all(probe_type: ProbeType) -> None:
    trigger = {
        "name": "trigger",
        "restartPolicy": "Never",
        "restartPolicyRules": rule("RestartAllContainers", 1),
    }
    ended = {"name": "trigger", "id": "test://trigger", "state": "terminated", "exit_code": 1}
    worker = Worker(probe_type, beside=(trigger,))
    worker.status("terminated", exit_code=1, beside=(ended,))
    assert worker.do_probe()
    assert worker.published[-1] == "Failure"


@pytest.mark.parametrize("probe_type", [pytest.param(each, id=f"W18-{each}") for each in TYPES])
def test_a_worker_goes_on_if_its_container_was_removed_to_restart_all(probe_type: ProbeType) -> None:
    worker = Worker(probe_type, container={"restartPolicy": "Never"})
    worker.status("waiting", phase="Pending")
    assert worker.do_probe()
    assert worker.published[-1] == "Failure"
