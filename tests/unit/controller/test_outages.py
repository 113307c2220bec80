"""Configuration, leaders, kinds that are missing, and an API server that goes away."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from probelet.kube import kinds

from tests.support.kube_api import Answer
from tests.unit.controller.scripted_cluster import FAST, NAMESPACE, ScriptedCluster
from tests.unit.kube.virtual_clock import SECOND


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[ScriptedCluster]:
    async with ScriptedCluster() as cluster:
        cluster.node("node-1")
        cluster.workload()
        yield cluster


async def failing(cluster: ScriptedCluster, *names: str) -> None:
    """Pods that are mapped and fail."""
    for name in names:
        cluster.pod(name)
    await cluster.until(lambda: set(names) <= set(cluster.mapped()))
    cluster.publish(*names)


async def test_without_a_config_map_the_defaults_hold(cluster: ScriptedCluster) -> None:
    controller = await cluster.controller()
    await cluster.ready(controller)
    await failing(cluster, "web-0")
    began = cluster.clock.now()
    await cluster.until(lambda: cluster.requests != [])
    assert cluster.clock.now() - began >= 5_000_000_000, "the bucket of ten a minute began empty"


async def test_f1_the_switch_counts_at_once_and_deletes_what_no_node_has_begun(cluster: ScriptedCluster) -> None:
    cluster.settings(FAST)
    controller = await cluster.controller()
    await cluster.ready(controller)
    await failing(cluster, "web-0")
    await cluster.until(lambda: cluster.requests != [])
    cluster.settings({**FAST, "enabled": "false"})
    await cluster.until(lambda: cluster.requests == [])
    cluster.publish("web-0")
    await cluster.pass_seconds(60)
    assert cluster.requests == []
    assert controller.count('probelet_elp_decisions_total{reason="SwitchedOff"}') >= 1
    assert cluster.mapped() == ["web-0"], "probing goes on"
    cluster.settings(FAST)
    cluster.publish("web-0")
    await cluster.until(lambda: cluster.requests != [])


async def test_f1b_detection_off_stops_probing(cluster: ScriptedCluster) -> None:
    cluster.settings(FAST)
    await cluster.controller()
    cluster.pod("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    cluster.settings({**FAST, "detection": "false"})
    await cluster.until(lambda: cluster.mapped() == [])
    cluster.settings(FAST)
    await cluster.until(lambda: cluster.mapped() == ["web-0"])


async def test_a_malformed_change_keeps_the_last_good_configuration(cluster: ScriptedCluster) -> None:
    cluster.settings(FAST)
    controller = await cluster.controller()
    await cluster.ready(controller)
    cluster.settings({"enabled": "flase", "rate.burst": "many"})
    await cluster.until(lambda: cluster.events("ELPConfigurationInvalid") != [])
    [event] = cluster.events("ELPConfigurationInvalid")
    enabled, burst = event["message"].split("; ")
    assert enabled == 'enabled: Invalid value: "flase": must be true or false'
    assert burst == 'rate.burst: Invalid value: "many": must be from 1 to 60000'
    assert event["involvedObject"]["name"] == "elp-config"
    assert controller.count("probelet_elp_configuration_valid") == 0
    assert controller.service.why_not_ready is None
    await failing(cluster, "web-0")
    await cluster.until(lambda: cluster.requests != [])


async def test_a_malformed_first_configuration_restarts_nothing(cluster: ScriptedCluster) -> None:
    cluster.settings({"rate.burst": "many"})
    controller = await cluster.controller()
    await cluster.until(lambda: "elp-config" in (controller.service.why_not_ready or ""))
    assert "no good configuration yet" in (controller.service.why_not_ready or "")
    await failing(cluster, "web-0")
    await cluster.pass_seconds(60)
    assert cluster.requests == []
    cluster.settings(FAST)
    cluster.publish("web-0")
    await cluster.until(lambda: cluster.requests != [])


async def test_f9_a_kind_that_is_not_served_is_said_and_nothing_else(cluster: ScriptedCluster) -> None:
    cluster.settings(FAST)
    cluster.api.faults.add(
        Answer(404, message="the server could not find the requested resource"), "*", "nodepodprobes", times=None
    )
    controller = await cluster.controller()
    cluster.pod("web-0")
    await cluster.pass_seconds(30)
    assert controller.service.why_not_ready == (
        "not read from the API server yet, or out of reach: nodepodprobes.apps.kruise.io"
    )
    assert not controller.task.done()
    cluster.api.faults.clear()
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    await cluster.ready(controller)


async def test_f9_a_missing_kind_of_budget_is_ignored(cluster: ScriptedCluster) -> None:
    cluster.settings(FAST)
    for plural in ("podunavailablebudgets", "clonesets"):
        cluster.api.faults.add(Answer(404), "*", plural, times=None)
    controller = await cluster.controller()
    await cluster.ready(controller)
    await failing(cluster, "web-0")
    await cluster.until(lambda: cluster.requests != [])


async def test_budgets_that_may_not_be_read_deny(cluster: ScriptedCluster) -> None:
    cluster.settings(FAST)
    cluster.api.faults.add(Answer(403), "*", "poddisruptionbudgets", times=None)
    controller = await cluster.controller()
    await cluster.ready(controller)
    await failing(cluster, "web-0")
    await cluster.until(lambda: cluster.events("BudgetUnknown") != [])
    assert cluster.requests == []
    cluster.api.faults.clear()
    cluster.publish("web-0")
    await cluster.until(lambda: cluster.requests != [])


async def test_r16_one_of_two_controllers_decides_and_the_other_takes_over(cluster: ScriptedCluster) -> None:
    cluster.settings(FAST)
    first, second = await cluster.controller("a"), await cluster.controller("b")
    leader = await cluster.ready(first, second)
    other = second if leader is first else first
    await failing(cluster, "web-0")
    await cluster.until(lambda: cluster.requests != [])
    assert other.count("probelet_elp_leader") == 0
    assert other.service.why_not_ready is None, "standing by is ready"
    await leader.stop()
    await cluster.ready(other)
    assert other.count("probelet_elp_leader") == 1
    await failing(cluster, "web-0", "web-1")
    await cluster.until(lambda: len(cluster.requests) == 2)
    assert sorted(cluster.restarted) == ["web-0", "web-1"], "no second request for the first pod"


async def test_f3_a_leader_that_is_killed_leaves_nothing_undone_and_nothing_twice(cluster: ScriptedCluster) -> None:
    cluster.settings(FAST)
    first = await cluster.controller("a")
    await cluster.ready(first)
    await failing(cluster, "web-0", "web-1")
    await cluster.until(lambda: cluster.requests != [])
    await first.kill()
    second = await cluster.controller("b")
    await cluster.ready(second)
    for _ in range(6):
        cluster.publish("web-0", "web-1")
        await cluster.pass_seconds(10)
    names = [each["spec"]["podName"] for each in cluster.requests]
    assert len(names) == len(set(names))
    lease = cluster.api.get(kinds.LEASES, "probelet-controller", NAMESPACE)
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == "b"


async def test_f2_nothing_is_decided_while_the_api_server_is_away(cluster: ScriptedCluster) -> None:
    cluster.settings(FAST)
    controller = await cluster.controller()
    await cluster.ready(controller)
    cluster.pod("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    await cluster.api.refuse()
    await cluster.pass_seconds(5)
    # Meanwhile the pod fails, and recovers before the controller can know.
    cluster.publish("web-0")
    cluster.publish()
    cluster.pod("web-1")
    await cluster.api.accept()
    await cluster.until(lambda: cluster.mapped() == ["web-0", "web-1"])
    await cluster.until(lambda: controller.service._leading is not None and controller.service.why_not_ready is None)
    await cluster.pass_seconds(20)
    assert cluster.requests == []
    cluster.publish("web-1")
    await cluster.until(lambda: cluster.restarted == ["web-1"])


@pytest.mark.parametrize("survivor", ["leader", "standby"])
async def test_f2_it_is_decided_soon_after_the_api_server_is_back(cluster: ScriptedCluster, survivor: str) -> None:
    """Each of a dozen mirrors would wait for up to a minute, and a decision needs all of them. With the Lease's try,
    the list after it and their jitter it takes one to seven seconds."""
    cluster.settings(FAST)
    first, second = await cluster.controller("a"), await cluster.controller("b")
    leader = await cluster.ready(first, second)
    other = second if leader is first else first
    cluster.pod("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    await cluster.api.refuse()
    await cluster.pass_seconds(90)
    left, lost = (leader, other) if survivor == "leader" else (other, leader)
    await lost.kill()
    cluster.publish("web-0")
    cluster.api.store.compact()
    await cluster.api.accept()
    began = cluster.clock.now()
    await cluster.until(lambda: left.service.why_not_known is None)
    assert cluster.clock.now() - began <= 12 * SECOND
    await cluster.until(lambda: cluster.restarted == ["web-0"])
    assert cluster.clock.now() - began <= 30 * SECOND, "the Lease of a leader that is gone lasts 15 s more"


async def test_the_metric_page_has_every_series_of_the_page(cluster: ScriptedCluster) -> None:
    controller = await cluster.controller()
    await cluster.ready(controller)
    labelled = ('probelet_elp_breaker_open{scope="node"}', 'probelet_elp_held_seconds{reason="BudgetDenied"}')
    for name in ("probelet_elp_tokens", "probelet_elp_leader", *labelled):
        assert f"\n{name} " in controller.metrics
