"""KEP-2238 on real processes that ignore SIGTERM: killed within the probe's grace, although the pod's is an hour."""

from typing import Any

import pytest

from tests.system.run.process_node import TARGET, ProcessNode, seconds_between, waited

pytestmark = pytest.mark.e2e

STUBBORN = [str(TARGET), ":8080", "ok", "ignore-term"]


def failing(grace: int) -> dict[str, Any]:
    command = {"exec": {"command": ["false"]}}
    return {**command, "periodSeconds": 1, "failureThreshold": 1, "terminationGracePeriodSeconds": grace}


def seconds(node: ProcessNode) -> float:
    """From the first Killing to the next start, which merges with the event of the first start."""
    killing, started = node.events("Killing")[0], node.events("Started")[-1]
    return seconds_between(killing["at"], started["at"])


@pytest.mark.parametrize("probe", ["liveness", "startup"])
async def test_a_hung_container_is_killed_within_its_probes_grace(node: ProcessNode, probe: str) -> None:
    container = {"name": "app", "command": STUBBORN, f"{probe}Probe": failing(3)}
    node.run("hung", container, terminationGracePeriodSeconds=3600)
    await node.until(lambda: node.container("hung").get("restart_count") == 1)
    assert waited(seconds(node), 3)
    assert node.container("hung")["last_exit"]["exit_code"] == 137
    assert (
        f'probelet_container_kills_total{{reason="{probe}",grace_source="probe"}}'
        in node.service.view.metrics().decode()
    )


async def test_a_probe_grace_of_one_second_is_raised_to_two(node: ProcessNode) -> None:
    container = {"name": "app", "command": STUBBORN, "livenessProbe": failing(1)}
    node.run("hung", container, terminationGracePeriodSeconds=3600)
    await node.until(lambda: node.container("hung").get("restart_count") == 1)
    assert waited(seconds(node), 2)


async def test_a_pre_stop_hook_runs_within_the_probes_grace_beside_the_readiness_probe(node: ProcessNode) -> None:
    """The hook gets the whole grace, the container two seconds more; readiness probes go on, liveness probes do not."""
    hook = {"preStop": {"exec": {"command": ["sleep", "3600"]}}}
    ready = {"exec": {"command": ["true"]}, "periodSeconds": 1}
    container = {"name": "app", "command": STUBBORN, "livenessProbe": failing(3), "readinessProbe": ready}
    node.run("hung", {**container, "lifecycle": hook}, terminationGracePeriodSeconds=3600)
    await node.until(lambda: node.events("Killing"))
    unhealthy = len(node.events("Unhealthy"))
    runs = node.container("hung")["probes"]["readiness"]["runs"]
    await node.until(lambda: node.container("hung").get("restart_count") == 1)
    assert waited(seconds(node), 5)
    assert node.events("FailedPreStopHook")[0]["message"] == "PreStopHook failed"
    assert len(node.events("Unhealthy")) <= unhealthy + 1, "liveness is on hold until the next instance"
    assert node.container("hung")["probes"]["readiness"]["runs"] > runs
