"""Crash loops on a node: the metrics of them, and the commands and events that end a back-off of an hour."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from probelet.kube.events.correlator import SPAM_BURST
from probelet.policy.node.restart_gate import GateOptions, RestartGate
from probelet.runtime.cri.v1 import api_pb2
from probelet.server.control.command import NoSuchPodError

from tests.unit.node.scripted_node import ScriptedNode, make_manifest, served_node
from tests.unit.node.scripted_runtime import ScriptedRuntime

HOUR = 3_600_000_000_000
READINESS = {"exec": {"command": ["probe"]}, "periodSeconds": 1, "failureThreshold": 1}


@pytest.fixture
async def node(runtime: ScriptedRuntime, tmp_path: Path) -> AsyncIterator[ScriptedNode]:
    gate = RestartGate(GateOptions(initial_ns=HOUR, max_ns=HOUR))
    async with served_node(runtime, gate, tmp_path, name="n", release_on_dependency=True) as node:
        yield node


async def crash_until_it_waits(node: ScriptedNode, runtime: ScriptedRuntime, name: str = "web") -> None:
    """Crashes a container twice: its first restart comes at once, its second one waits an hour."""
    for count in (0, 1):
        await node.until(lambda count=count: node.container(name)["restart_count"] == count)  # type: ignore[misc]
        await node.until(lambda: node.container(name)["state"] == "running")
        runtime.exit(node.container(name)["container_id"].partition("://")[2], 3)
    await node.until(lambda: node.container(name)["state"] == "waiting")


def metric(node: ScriptedNode, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", node.service.view.metrics().decode(), re.M)
    assert found is not None, name
    return float(found[1])


async def test_the_page_counts_restarts_delays_and_waiting_containers(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    node.service.pods.set([make_manifest()])
    await node.until(lambda: node.pod().get("ready"))
    assert metric(node, 'probelet_crashloop_config_info{initial="3600",cap="3600",reset="600",source="default"}') == 1
    await crash_until_it_waits(node, runtime)
    assert metric(node, 'probelet_crashloop_restarts_total{reason="error",first="true"}') == 1
    assert metric(node, "probelet_crashloop_containers_waiting") == 1
    assert metric(node, "probelet_crashloop_backoff_entries") == 1
    assert metric(node, 'probelet_crashloop_backoff_delay_seconds_bucket{le="0"}') == 1
    assert metric(node, "probelet_crashloop_backoff_delay_seconds_count") == 1
    assert metric(node, "probelet_crashloop_restart_lateness_seconds_count") == 0
    assert metric(node, "probelet_crashloop_status_updates_total") >= 4
    assert b"web" not in node.service.view.metrics(), "no pod or container is a label"


async def test_a_retry_starts_a_waiting_container_and_keeps_its_delay(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    node.service.pods.set([make_manifest()])
    await crash_until_it_waits(node, runtime)
    assert node.service.commands.retry("web", None) == ["app"]
    await node.until(lambda: node.container()["restart_count"] == 2 and node.container()["state"] == "running")
    assert node.service.commands.retry("default/web", "app") == [], "a running container has nothing to retry"
    runtime.exit(node.container()["container_id"].partition("://")[2], 3)
    await node.until(lambda: node.container()["state"] == "waiting")
    assert node.container()["backoff"]["delay_seconds"] == 3600
    assert metric(node, 'probelet_crashloop_backoff_resets_total{cause="operator"}') == 0


async def test_a_reset_starts_a_waiting_container_and_makes_its_next_crash_the_first(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    node.service.pods.set([make_manifest()])
    await crash_until_it_waits(node, runtime)
    assert node.service.commands.reset("web", "app") == ["app"]
    await node.until(lambda: node.container()["restart_count"] == 2 and node.container()["state"] == "running")
    assert metric(node, 'probelet_crashloop_backoff_resets_total{cause="operator"}') == 1


async def test_a_command_for_an_unknown_or_ambiguous_name_is_refused(node: ScriptedNode) -> None:
    node.service.pods.set([make_manifest(uid="u1"), make_manifest(uid="u2", namespace="shop")])
    await node.until(lambda: len(node.service.view.status().document()["pods"]) == 2)
    for pod, container, message in (
        ("nope", None, 'there is no pod "nope"'),
        ("web", None, 'pod "web" is in several namespaces: default/web, shop/web'),
        ("shop/web", "db", 'pod "shop/web" has no container "db", but app'),
    ):
        with pytest.raises(NoSuchPodError) as caught:
            node.service.commands.retry(pod, container)
        assert str(caught.value) == message


async def test_a_dependency_that_turns_healthy_releases_the_containers_that_wait_for_it(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse(exit_code=1)
    database = make_manifest("db", containers=[{"name": "pg", "image": "i", "readinessProbe": READINESS}])
    web, idle = make_manifest("web"), make_manifest("idle")
    web.pod.metadata.annotations["probelet.dev/release-on"] = "app=db/pg/readiness"
    node.service.pods.set([database, web, idle])
    await crash_until_it_waits(node, runtime)
    await crash_until_it_waits(node, runtime, "idle")
    runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse()
    await node.until(lambda: node.container()["restart_count"] == 2 and node.container()["state"] == "running")
    assert node.pod("db")["ready"]
    assert node.container("idle")["state"] == "waiting", "it names no dependency"


async def test_a_wall_clock_that_jumps_moves_no_back_off(
    node: ScriptedNode, runtime: ScriptedRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    node.service.pods.set([make_manifest()])
    await crash_until_it_waits(node, runtime)
    waiting = node.container()
    for jump in (24 * HOUR, -24 * HOUR):
        monkeypatch.setattr(node.service.host.timers, "wall_ns", lambda jump=jump: runtime.wall_ns() + jump)
        # The runtime reports the exit again. It keeps events in order, so a pod that starts later is reported later.
        exited = waiting["container_id"].partition("://")[2]
        runtime.publish(runtime.sandbox_of[exited], exited, api_pb2.CONTAINER_STOPPED_EVENT)
        other = make_manifest(f"other{abs(jump) + jump}")
        node.service.pods.set([make_manifest(), other])
        await node.until(lambda name=other.pod.metadata.name: node.pod(name).get("ready"))  # type: ignore[misc]
        assert node.container()["state"] == "waiting"
        assert node.container()["restart_count"] == waiting["restart_count"]
        assert node.container()["backoff"]["delay_seconds"] == 3600


async def test_an_exit_is_as_old_as_the_nodes_clocks_say(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    """The age of an exit includes the hour by which the test puts the clocks forward."""
    manifest = make_manifest()
    node.service.pods.set([manifest])
    await node.until(lambda: node.container()["state"] == "running")
    await node.round_trip(HOUR)
    [container_id] = runtime.containers
    runtime.exit(container_id, 1, say=False)
    ended, engine = node.service.host.engine.now(), node.service.host.engine
    await node.round_trip(5_000_000_000)
    # The runtime reports the exit five seconds late.
    runtime.publish(runtime.sandbox_of[container_id], container_id, api_pb2.CONTAINER_STOPPED_EVENT)
    cache, full_id = node.service.host.cache, f"scripted://{container_id}"
    await node.until(lambda: (known := cache.container(manifest.pod.metadata.uid, full_id)) and known.finished_ns)
    known = cache.container(manifest.pod.metadata.uid, full_id)
    assert known is not None
    assert known.finished_ns == pytest.approx(ended, abs=1_000_000_000)
    assert engine.now() - ended >= 5_000_000_000


async def test_a_storm_of_events_is_limited_and_the_dropped_ones_are_counted(node: ScriptedNode) -> None:
    manifest = make_manifest()
    node.service.pods.set([manifest])
    await node.until(lambda: node.pod().get("ready"))
    uid, before = manifest.pod.metadata.uid, len(node.service.view.events(0))
    for number in range(1_000):
        node.service.host.recorder.record(
            uid, "default/web", "Warning", "Unhealthy", f"Readiness probe failed: {number}"
        )
    assert metric(node, 'probelet_events_dropped_total{by="spam_filter"}') == 1_000 - (SPAM_BURST - before)
    assert metric(node, 'probelet_events_dropped_total{by="engine"}') == 0
    assert len(node.service.view.events(0)) <= SPAM_BURST
    assert node.pod()["ready"]
