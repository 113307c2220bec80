"""Real processes: restarts with their delays, kills with their grace, and an end that leaves nothing."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from tests.system.run.process_node import TARGET, ProcessNode, seconds_between, waited

pytestmark = pytest.mark.e2e

OFTEN = {"periodSeconds": 1, "failureThreshold": 2}


def target(*behaviours: str, **fields: Any) -> dict[str, Any]:
    return {"name": "app", "command": [str(TARGET), ":8080", *behaviours], **fields}


def shell(script: str, **fields: Any) -> dict[str, Any]:
    return {"name": "app", "command": ["sh", "-c", script], **fields}


async def test_a_crash_looper_gets_one_free_restart_and_then_waits_ten_seconds(node: ProcessNode) -> None:
    node.run("looper", shell("exit 3"))
    await node.until(lambda: node.container("looper").get("reason") == "CrashLoopBackOff")
    waiting = node.container("looper")
    assert (waiting["restart_count"], waiting["backoff"]["delay_seconds"], waiting["backoff"]["step"]) == (1, 10, 1)
    assert waiting["last_exit"] | {"at": ""} == {"at": "", "exit_code": 3, "reason": "Error", "message": ""}
    await node.until(lambda: node.container("looper")["restart_count"] == 2)
    due, last = waiting["backoff"]["due_at"], waiting["last_exit"]["at"]
    assert seconds_between(last, due) == pytest.approx(10, abs=0.01)
    assert waited(seconds_between(last, node.events("Started")[-1]["at"]), 10)
    assert node.events("BackOff")[0]["message"].startswith("Back-off restarting failed container app in pod looper_")
    assert "2.log" in {path.name for path in node.logs.glob("default_looper_*/app/*")}


async def test_a_deadlocked_service_is_killed_after_its_grace_and_serves_again(node: ProcessNode) -> None:
    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "timeoutSeconds": 1, **OFTEN}
    node.run("web", target("ok", "deadlock@2", "ignore-term", livenessProbe=probe), terminationGracePeriodSeconds=2)
    await node.until(lambda: node.container("web").get("restart_count") == 1)
    await node.until(lambda: node.container("web")["state"] == "running")
    assert node.container("web")["last_exit"]["exit_code"] == 137, "SIGTERM was not enough"
    (killing,) = node.events("Killing")
    assert killing["message"] == "Container app failed liveness probe, will be restarted"
    assert killing["field_path"] == "spec.containers{app}"
    assert waited(seconds_between(killing["at"], node.events("Started")[-1]["at"]), 2), "its grace"
    assert node.events("BackOff") == []


async def test_a_probes_own_grace_is_used_for_its_own_kill(node: ProcessNode) -> None:
    probe = {"exec": {"command": ["false"]}, "terminationGracePeriodSeconds": 3, **OFTEN}
    node.run("stubborn", target("ok", "ignore-term", livenessProbe=probe), terminationGracePeriodSeconds=3600)
    await node.until(lambda: node.container("stubborn").get("restart_count") == 1)
    killing, started = node.events("Killing")[0], node.events("Started")[-1]
    assert waited(seconds_between(killing["at"], started["at"]), 3)


async def test_liveness_waits_for_a_slow_start(node: ProcessNode) -> None:
    http = {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1}
    node.run(
        "slow",
        target(
            "refuse",
            "ok@3",
            startupProbe={**http, "failureThreshold": 30},
            livenessProbe={**http, "failureThreshold": 1},
            readinessProbe=http,
        ),
    )
    await node.until(lambda: node.container("slow").get("state") == "running")
    assert (node.container("slow")["started"], node.pod("slow")["ready"]) == (False, False)
    await node.until(lambda: node.pod("slow")["ready"])
    assert (node.container("slow")["started"], node.container("slow")["restart_count"]) == (True, 0)
    assert all("Startup" in event["message"] for event in node.events("Unhealthy"))


@pytest.mark.parametrize(("code", "phase", "reason"), [(0, "Succeeded", "Completed"), (7, "Failed", "Error")])
async def test_a_pod_that_runs_once_keeps_its_exit(node: ProcessNode, code: int, phase: str, reason: str) -> None:
    node.run("job", shell(f"exit {code}"), restartPolicy="Never")
    await node.until(lambda: node.pod("job")["phase"] == phase)
    container = node.container("job")
    assert (container["state"], container["exit_code"], container["reason"]) == ("terminated", code, reason)
    assert container["restart_count"] == 0


async def test_a_removed_manifest_ends_its_pod_within_its_grace_and_leaves_the_others(node: ProcessNode) -> None:
    # Ready only when it answers: before that it has not begun to ignore SIGTERM.
    http = {"httpGet": {"port": 8080}, "periodSeconds": 1}
    node.run("goes", target("ok", "ignore-term", readinessProbe=http), terminationGracePeriodSeconds=2)
    node.run("stays", target())
    await node.until(lambda: node.pod("goes")["ready"] and node.pod("stays")["ready"])
    before = node.container("stays")["container_id"]
    begun = time.monotonic()
    node.remove("goes")
    await node.until(lambda: not node.pod("goes")["phase"])
    assert waited(time.monotonic() - begun, 2)
    assert node.container("stays")["container_id"] == before
    assert [box.metadata.name for box in await node.client.list_pod_sandbox()] == ["stays"]


async def test_a_changed_manifest_replaces_its_pod(node: ProcessNode) -> None:
    node.run("web", target())
    await node.until(lambda: node.pod("web")["ready"])
    old = node.pod("web")["uid"]
    node.run("web", target("status=404"))
    await node.until(lambda: node.pod("web").get("uid") not in (None, old) and node.pod("web")["ready"])
    assert node.container("web")["restart_count"] == 0
    assert len(await node.client.list_pod_sandbox()) == 1


async def test_a_missing_command_is_reported_and_backs_off(node: ProcessNode) -> None:
    node.run("typo", {"name": "app", "command": ["/no/such/program"]})
    await node.until(lambda: node.container("typo").get("reason") == "CrashLoopBackOff")
    failed = {event["message"] for event in node.events("Failed")}
    assert len(failed) == 1
    assert "/no/such/program" in failed.pop()
    assert node.container("typo")["last_exit"]["exit_code"] == 128


async def test_a_drain_ends_all_pods_together_and_probes_see_readiness_end(node: ProcessNode, tmp_path: Path) -> None:
    end = tmp_path / "end"
    until_end = f"rm ready; until test -e {end}; do sleep 0.1; done; exit 0"
    script = f"trap '{until_end}' TERM; touch ready; while :; do sleep 0.1; done"
    probe = {"exec": {"command": ["test", "-e", "ready"]}, "periodSeconds": 1, "failureThreshold": 1}
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        container = shell(script, workingDir=str(tmp_path / name), readinessProbe=probe)
        node.run(name, container, terminationGracePeriodSeconds=3600)
    await node.until(lambda: all(node.pod(name)["ready"] for name in "abc"))
    drain = asyncio.ensure_future(node.service.pods.drain())
    await node.until(lambda: not any(node.pod(name)["ready"] for name in "abc"))
    assert not drain.done(), "not ready while it still ends"
    assert not any((tmp_path / name / "ready").exists() for name in "abc"), "all at once, not one after the other"
    end.touch()
    assert await drain == []
    assert await node.client.list_pod_sandbox() == []
