"""The service with everything real except the runtime: its calls of the runtime, and its status document."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from probelet._rust import Engine
from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.glue.sync_requests import SYNC_BURST
from probelet.policy.machine.pod_machine import PodMachine
from probelet.policy.node.restart_gate import RestartGate
from probelet.policy.protocol.actions import Action
from probelet.policy.protocol.inputs import Input, SyncRequested
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from structlog.testing import capture_logs

from tests.unit.node.scripted_node import ScriptedNode, make_manifest, make_service
from tests.unit.node.scripted_runtime import ScriptedRuntime

EXEC = {"exec": {"command": ["probe"]}, "periodSeconds": 1, "failureThreshold": 1}


async def test_a_new_pod_is_started_shown_and_becomes_ready(node: ScriptedNode) -> None:
    node.service.pods.set([make_manifest()])
    await node.until(lambda: node.pod().get("ready"))
    pod = node.pod()
    assert (pod["phase"], pod["ip"], pod["uid"], pod["namespace"]) == ("Running", "127.0.0.1", "uid-web", "default")
    container = node.container()
    assert container | {"container_id": ""} == {
        "name": "app",
        "kind": "regular",
        "container_id": "",
        "state": "running",
        "reason": "",
        "message": "",
        "exit_code": None,
        "restart_count": 0,
        "ready": True,
        "started": True,
        "last_exit": None,
        "backoff": None,
        "probes": {},
    }
    assert container["container_id"].startswith("scripted://container")
    assert (node.messages("Created"), node.messages("Started")) == (["Container created"], ["Container started"])


async def test_readiness_follows_an_exec_probe(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse(exit_code=1, stdout=b"not yet")
    node.service.pods.set([make_manifest(containers=[{"name": "app", "image": "i", "readinessProbe": EXEC}])])
    await node.until(lambda: node.messages("Unhealthy"))
    assert node.messages("Unhealthy")[0] == "Readiness probe failed: not yet"
    assert not node.pod()["ready"]
    runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse()
    await node.until(lambda: node.pod()["ready"])
    probe = node.container()["probes"]["readiness"]
    assert (probe["handler"], probe["result"], probe["last"]["outcome"]) == ("exec", "Success", "success")
    assert runtime.called("exec_sync")[0].cmd == ["probe"]


async def test_a_liveness_failure_kills_with_grace_and_restarts_at_once(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse(exit_code=1)
    probe = {**EXEC, "terminationGracePeriodSeconds": 7}
    node.service.pods.set([make_manifest(containers=[{"name": "app", "image": "i", "livenessProbe": probe}])])
    await node.until(lambda: runtime.called("stop_container"))
    runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse()
    await node.until(lambda: node.container()["restart_count"] == 1 and node.container()["state"] == "running")
    assert runtime.called("stop_container")[0].timeout == 7
    assert node.messages("Killing") == ["Container app failed liveness probe, will be restarted"]
    assert node.container()["last_exit"]["exit_code"] == 137
    reasons = [event["reason"] for event in node.service.view.events(0)]
    assert reasons.index("Unhealthy") < reasons.index("Killing")
    assert b'probelet_container_kills_total{reason="liveness",grace_source="probe"} 1' in node.service.view.metrics()


async def test_a_crashing_container_is_shown_waiting_and_restarted_when_due(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    node.service.pods.set([make_manifest()])
    for crash in (0, 1):
        await node.until(lambda: node.container()["state"] == "running")
        running = next(id for id, c in runtime.containers.items() if c.state == api_pb2.CONTAINER_RUNNING)
        runtime.exit(running, 3)
        if crash == 0:
            await node.until(lambda: node.container()["restart_count"] == 1)
    await node.until(lambda: node.container()["state"] == "waiting")
    waiting = node.container()
    assert waiting["reason"] == "CrashLoopBackOff"
    assert (waiting["backoff"]["delay_seconds"], waiting["backoff"]["step"]) == (0.1, 1)
    assert waiting["last_exit"]["exit_code"] == 3
    assert node.pod()["phase"] == "Running"
    await node.until(lambda: node.container()["restart_count"] == 2 and node.container()["state"] == "running")
    starts = sorted(c.started_at for c in runtime.containers.values())
    ends = sorted(c.finished_at for c in runtime.containers.values() if c.finished_at)
    assert starts[-1] - ends[-1] >= 100_000_000, "never before its delay is over"
    assert len(runtime.containers) == 2, "only the newest dead one is kept"


async def test_a_removed_pod_leaves_nothing_and_a_new_pod_of_its_name_waits_for_its_end(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    node.service.pods.set([make_manifest(uid="u1")])
    await node.until(lambda: node.pod().get("ready"))
    runtime.held["stop_container"] = asyncio.Event()
    node.service.pods.set([make_manifest(uid="u2", digest="e")])
    await node.until(lambda: runtime.called("stop_container"))
    assert [pod["uid"] for pod in node.service.view.status().document()["pods"]] == ["u1"]
    runtime.held["stop_container"].set()
    await node.until(lambda: node.pod().get("uid") == "u2" and node.pod()["ready"])
    assert len(runtime.sandboxes) == 1
    assert len(runtime.containers) == 1


async def test_the_event_of_a_container_that_cannot_be_created_gives_the_reason(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    runtime.refuse["create_container"] = errors.InvalidArgument("no command")
    node.service.pods.set([make_manifest()])
    await node.until(lambda: node.messages("Failed"))
    assert node.messages("Failed") == ["Error: no command"]
    assert (node.container()["state"], node.container()["reason"]) == ("waiting", "CreateContainerError")


async def test_the_log_names_a_container_that_ended_with_its_last_line(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    with capture_logs() as logs:
        node.service.pods.set([make_manifest()])
        await node.until(lambda: node.container()["state"] == "running")
        container_id = next(iter(runtime.containers))
        runtime.containers[container_id].message = "listening\nTraceback: \x1b[31mno port\n"
        runtime.exit(container_id, 3)
        await node.until(lambda: node.container()["last_exit"])
    assert node.container()["last_exit"]["message"] == "listening\nTraceback: \x1b[31mno port\n"
    [line] = [line for line in logs if line["event"] == "container exited"]
    assert (line["log_level"], line["container"], line["exit_code"]) == ("warning", "app", 3)
    assert line["output"] == "Traceback: \N{REPLACEMENT CHARACTER}[31mno port"


async def test_a_call_that_failed_names_the_container_and_no_long_ids(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    sandbox = "0123456789abcdef" * 4
    with capture_logs() as logs:
        node.service.pods.set([make_manifest()])
        await node.until(lambda: node.container()["state"] == "running")
        container_id = next(iter(runtime.containers))
        runtime.refuse["stop_container"] = errors.RuntimeRefused(f'no "{container_id}" in sandbox "{sandbox}"')
        node.service.pods.set([])
        await node.until(lambda: any(line["event"] == "runtime call failed" for line in logs))
        del runtime.refuse["stop_container"]
    line = next(line for line in logs if line["event"] == "runtime call failed")
    assert (line["pod"], line["call"], line["container"]) == ("default/web", "KillContainer", "app")
    assert line["error"].endswith('no "app" in sandbox "0123456789abc"')


async def test_a_new_service_adopts_pods_with_their_restart_counts(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:

    node.service.pods.set([make_manifest()])
    await node.until(lambda: node.container()["state"] == "running")
    runtime.exit(next(iter(runtime.containers)), 1)
    await node.until(lambda: node.container()["restart_count"] == 1 and node.container()["state"] == "running")
    before = len(runtime.called("create_container"))
    later = make_service(node.client, RestartGate(), tmp_path, engine=Engine())
    await later.start()
    later.pods.set([make_manifest()])
    shown = later.view.status().document()["pods"][0]["containers"][0]
    assert (shown["state"], shown["restart_count"], shown["last_exit"]["exit_code"]) == ("running", 1, 1)
    assert len(runtime.called("create_container")) == before
    await later.close()


async def test_the_service_ends_pods_that_an_earlier_probelet_left_behind(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    node.service.pods.set([make_manifest("old"), make_manifest("kept")])
    await node.until(lambda: node.pod("old").get("ready") and node.pod("kept").get("ready"))

    await node.service.close()
    later = make_service(node.client, RestartGate(), tmp_path, engine=Engine())
    await later.start()
    later.pods.set([make_manifest("kept")])
    await later.remove_orphans()
    await node.until(lambda: len(runtime.sandboxes) == 1)
    assert next(iter(runtime.sandboxes.values())).metadata.name == "kept"
    assert [request.timeout for request in runtime.called("stop_container")] == [2]
    (event,) = [event for event in later.view.events(0) if event["reason"] == "Killing"]
    assert (event["object"], event["message"]) == ("default/old", "Stopping container app")
    assert event["field_path"] == "spec.containers{app}"
    await later.close()


async def test_a_pod_whose_uid_an_upgrade_changes_is_replaced_once(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    """UIDs of static pods depend on the release, as a kubelet's do: its hash covers all fields that it knows."""
    node.service.pods.set([make_manifest(uid="as-before")])
    await node.until(lambda: node.pod().get("ready"))
    await node.service.close()
    later = make_service(node.client, RestartGate(), tmp_path)
    await later.start()
    later.pods.set([make_manifest(uid="as-now")])
    await later.remove_orphans()
    await node.until(lambda: [box.metadata.uid for box in runtime.sandboxes.values()] == ["as-now"])
    assert len(runtime.called("run_pod_sandbox")) == 2
    assert len(runtime.called("stop_container")) == 1
    await later.close()


async def test_drain_ends_every_pod_at_the_same_time(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([make_manifest(f"p{number}") for number in range(3)])
    await node.until(lambda: all(node.pod(f"p{number}").get("ready") for number in range(3)))
    runtime.held["stop_container"] = asyncio.Event()
    drain = asyncio.ensure_future(node.service.pods.drain())
    await node.until(lambda: len(runtime.called("stop_container")) == 3)
    assert node.service.view.ready() == (False, "draining")
    runtime.held["stop_container"].set()
    assert await drain == []
    assert (runtime.sandboxes, runtime.containers, node.service.view.status().document()["pods"]) == ({}, {}, [])


async def test_a_container_that_is_being_stopped_says_until_when(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([make_manifest(terminationGracePeriodSeconds=3600)])
    await node.until(lambda: node.pod().get("ready"))
    assert "stopping_until" not in node.container()
    runtime.held["stop_container"] = asyncio.Event()
    drain = asyncio.ensure_future(node.service.pods.drain())
    await node.until(lambda: runtime.called("stop_container"))
    document = node.service.view.status().document()
    (row,) = document["pods"][0]["containers"]
    left = datetime.fromisoformat(row["stopping_until"]) - datetime.fromisoformat(document["as_of"])
    assert timedelta(seconds=3_500) < left <= timedelta(seconds=3_600)
    runtime.held["stop_container"].set()
    assert await drain == []


async def test_a_drain_at_once_does_not_wait_for_the_grace(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([make_manifest(terminationGracePeriodSeconds=3600)])
    await node.until(lambda: node.pod().get("ready"))
    runtime.held["stop_container"] = asyncio.Event()
    drain = asyncio.ensure_future(node.service.pods.drain())
    await node.until(lambda: runtime.called("stop_container"))
    del runtime.held["stop_container"]
    assert await node.service.pods.drain(at_once=True) == []
    assert [request.timeout for request in runtime.called("stop_container")] == [3600, 0]
    assert await drain == []


async def test_a_drain_goes_on_while_pods_end_and_then_gives_up(
    node: ScriptedNode, runtime: ScriptedRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    node.service.pods.set([make_manifest("done", restartPolicy="Never"), make_manifest("stuck")])
    await node.until(lambda: node.pod("done").get("ready") and node.pod("stuck").get("ready"))
    runtime.exit(node.container("done")["container_id"].partition("://")[2], 0)
    await node.until(lambda: node.pod("done")["phase"] == "Succeeded")
    runtime.held["stop_container"] = asyncio.Event()
    limits = []
    arm = node.service.host.timers.arm

    def arm_by_hand(deadline: int, due: Callable[[], None]) -> int:
        if due.__name__ != "set":
            return arm(deadline, due)
        limits.append(due)
        return arm(deadline + 3_600_000_000_000, due)

    monkeypatch.setattr(node.service.host.timers, "arm", arm_by_hand)
    drain = asyncio.ensure_future(node.service.pods.drain())
    await node.until(lambda: limits and not node.pod("done")["phase"])
    limits.pop()()
    await node.until(lambda: limits)
    assert not drain.done(), "a pod has gone meanwhile"
    limits.pop()()
    assert await drain == ["default/stuck"]
    runtime.held["stop_container"].set()


async def test_logs_are_removed_with_their_container_or_pod(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    node.service.pods.set([make_manifest()])
    logs = tmp_path / "logs" / "default_web_uid-web" / "app"
    for count in range(3):
        await node.until(lambda count=count: node.container().get("restart_count") == count)
        await node.until(lambda: node.container()["state"] == "running")
        logs.mkdir(parents=True, exist_ok=True)
        (logs / f"{count}.log").touch()
        if count < 2:
            running = next(id for id, c in runtime.containers.items() if c.state == api_pb2.CONTAINER_RUNNING)
            runtime.exit(running, 1)
    await node.until(lambda: len(runtime.containers) == 2)
    assert sorted(path.name for path in logs.iterdir()) == ["1.log", "2.log"]
    await node.service.pods.drain()
    assert not logs.parent.exists()


async def test_a_completed_pod_is_shown_until_it_is_removed(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([make_manifest(restartPolicy="Never")])
    await node.until(lambda: node.container()["state"] == "running")
    runtime.exit(next(iter(runtime.containers)), 0)
    await node.until(lambda: node.pod()["phase"] == "Succeeded")
    assert (node.container()["state"], node.container()["reason"]) == ("terminated", "Completed")
    await node.until(lambda: runtime.called("stop_pod_sandbox"))
    node.service.pods.set([])
    await node.until(lambda: not runtime.sandboxes)


async def test_the_restart_count_of_a_forgotten_container_comes_from_its_logs(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    logs = tmp_path / "logs" / "default_web_uid-web" / "app"
    logs.mkdir(parents=True)
    for name in ("0.log", "2.log.20260101-000000.gz", "notes"):
        (logs / name).touch()
    node.service.pods.set([make_manifest()])
    await node.until(lambda: node.container()["state"] == "running")
    assert node.container()["restart_count"] == 3
    assert runtime.called("create_container")[0].config.log_path == "app/3.log"


async def test_an_idle_node_makes_no_call_per_pod(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([make_manifest(f"p{number}") for number in range(5)])
    await node.until(lambda: all(node.pod(f"p{number}").get("ready") for number in range(5)))
    runtime.calls.clear()
    await node.service.host.pleg.relist()
    assert sorted(name for name, _ in runtime.calls) == ["list_containers", "list_pod_sandbox"]


class TestWithoutEvents:
    """containerd 1.x has no event stream; a relist every second finds what happened."""

    @pytest.fixture
    def runtime(self) -> ScriptedRuntime:
        return ScriptedRuntime(with_events=False)

    async def test_the_relist_finds_an_exit(self, node: ScriptedNode, runtime: ScriptedRuntime) -> None:
        node.service.pods.set([make_manifest()])
        await node.until(lambda: node.container()["state"] == "running")
        runtime.exit(next(iter(runtime.containers)), 1)
        await node.until(lambda: node.container()["restart_count"] == 1 and node.container()["state"] == "running")


async def test_readiness_names_a_runtime_that_went_away_until_it_is_back(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    await node.until(lambda: node.service.view.ready()[0])
    await runtime.stop()
    await node.until(lambda: not node.service.view.ready()[0])
    assert node.service.view.ready()[1].startswith("runtime: rpc error: code = ")
    again = ScriptedRuntime()
    client = await again.serve(tmp_path)
    await node.until(lambda: node.service.view.ready()[0])
    await client.aclose()
    await again.stop()


async def test_a_container_that_ended_beside_a_running_one_does_not_keep_the_node_busy(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    short = {"name": "short", "image": "i", "readinessProbe": EXEC}
    node.service.pods.set([make_manifest(restartPolicy="Never", containers=[short, {"name": "long", "image": "i"}])])
    await node.until(lambda: node.pod().get("ready"))
    ended = next(id for id, c in runtime.containers.items() if c.metadata.name == "short")
    syncs = 0
    give = PodMachine.handle

    def counted(machine: PodMachine, now: int, given: Input, probes: ProbeState) -> list[Action]:
        nonlocal syncs
        syncs += isinstance(given, SyncRequested)
        return give(machine, now, given, probes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PodMachine, "handle", counted)
        runtime.exit(ended, 0)
        await node.until(lambda: syncs >= SYNC_BURST - 5)
        for _ in range(200):
            await node.client.version()
    # The bucket may have regained a token or two since the pod started.
    assert syncs <= SYNC_BURST + 3
