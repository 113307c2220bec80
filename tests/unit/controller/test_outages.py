"""Configuration, leaders, kinds that are missing, and an API server that goes away."""

from collections.abc import AsyncIterator

import pytest_asyncio
from probelet.kube import kinds

from tests.support.kube_api import Answer
from tests.unit.controller.world import FAST, NAMESPACE, World


@pytest_asyncio.fixture
async def world() -> AsyncIterator[World]:
    async with World() as world:
        world.node("node-1")
        world.workload()
        yield world


async def failing(world: World, *names: str) -> None:
    """Pods that are mapped and fail."""
    for name in names:
        world.pod(name)
    await world.until(lambda: set(names) <= set(world.mapped()))
    world.publish(*names)


async def test_without_a_config_map_the_defaults_hold(world: World) -> None:
    controller = await world.controller()
    await world.ready(controller)
    await failing(world, "web-0")
    began = world.clock.now()
    await world.until(lambda: world.requests != [])
    assert world.clock.now() - began >= 5_000_000_000, "the bucket of ten a minute began empty"


async def test_f1_the_switch_counts_at_once_and_deletes_what_no_node_has_begun(world: World) -> None:
    world.settings(FAST)
    controller = await world.controller()
    await world.ready(controller)
    await failing(world, "web-0")
    await world.until(lambda: world.requests != [])
    world.settings({**FAST, "enabled": "false"})
    await world.until(lambda: world.requests == [])
    world.publish("web-0")
    await world.pass_seconds(60)
    assert world.requests == []
    assert controller.count('probelet_elp_decisions_total{reason="SwitchedOff"}') >= 1
    assert world.mapped() == ["web-0"], "probing goes on"
    world.settings(FAST)
    world.publish("web-0")
    await world.until(lambda: world.requests != [])


async def test_f1b_detection_off_stops_probing(world: World) -> None:
    world.settings(FAST)
    await world.controller()
    world.pod("web-0")
    await world.until(lambda: world.mapped() == ["web-0"])
    world.settings({**FAST, "detection": "false"})
    await world.until(lambda: world.mapped() == [])
    world.settings(FAST)
    await world.until(lambda: world.mapped() == ["web-0"])


async def test_a_malformed_change_keeps_the_last_good_configuration(world: World) -> None:
    world.settings(FAST)
    controller = await world.controller()
    await world.ready(controller)
    world.settings({"enabled": "flase", "rate.burst": "many"})
    await world.until(lambda: world.events("ELPConfigurationInvalid") != [])
    [event] = world.events("ELPConfigurationInvalid")
    enabled, burst = event["message"].split("; ")
    assert enabled == 'enabled: Invalid value: "flase": must be true or false'
    assert burst == 'rate.burst: Invalid value: "many": must be from 1 to 60000'
    assert event["involvedObject"]["name"] == "elp-config"
    assert controller.count("probelet_elp_configuration_valid") == 0
    assert controller.service.why_not_ready is None
    await failing(world, "web-0")
    await world.until(lambda: world.requests != [])


async def test_a_malformed_first_configuration_restarts_nothing(world: World) -> None:
    world.settings({"rate.burst": "many"})
    controller = await world.controller()
    await world.until(lambda: "elp-config" in (controller.service.why_not_ready or ""))
    assert "no good configuration yet" in (controller.service.why_not_ready or "")
    await failing(world, "web-0")
    await world.pass_seconds(60)
    assert world.requests == []
    world.settings(FAST)
    world.publish("web-0")
    await world.until(lambda: world.requests != [])


async def test_f9_a_kind_that_is_not_served_is_said_and_nothing_else(world: World) -> None:
    world.settings(FAST)
    world.api.faults.add(
        Answer(404, message="the server could not find the requested resource"), "*", "nodepodprobes", times=None
    )
    controller = await world.controller()
    world.pod("web-0")
    await world.pass_seconds(30)
    assert controller.service.why_not_ready == (
        "not read from the API server yet, or out of reach: nodepodprobes.apps.kruise.io"
    )
    assert not controller.task.done()
    world.api.faults.clear()
    await world.until(lambda: world.mapped() == ["web-0"])
    await world.ready(controller)


async def test_f9_a_missing_kind_of_budget_is_ignored(world: World) -> None:
    world.settings(FAST)
    for plural in ("podunavailablebudgets", "clonesets"):
        world.api.faults.add(Answer(404), "*", plural, times=None)
    controller = await world.controller()
    await world.ready(controller)
    await failing(world, "web-0")
    await world.until(lambda: world.requests != [])


async def test_budgets_that_may_not_be_read_deny(world: World) -> None:
    world.settings(FAST)
    world.api.faults.add(Answer(403), "*", "poddisruptionbudgets", times=None)
    controller = await world.controller()
    await world.ready(controller)
    await failing(world, "web-0")
    await world.until(lambda: world.events("BudgetUnknown") != [])
    assert world.requests == []
    world.api.faults.clear()
    world.publish("web-0")
    await world.until(lambda: world.requests != [])


async def test_r16_one_of_two_controllers_decides_and_the_other_takes_over(world: World) -> None:
    world.settings(FAST)
    first, second = await world.controller("a"), await world.controller("b")
    leader = await world.ready(first, second)
    other = second if leader is first else first
    await failing(world, "web-0")
    await world.until(lambda: world.requests != [])
    assert other.count("probelet_elp_leader") == 0
    assert other.service.why_not_ready is None, "standing by is ready"
    await leader.stop()
    await world.ready(other)
    assert other.count("probelet_elp_leader") == 1
    await failing(world, "web-0", "web-1")
    await world.until(lambda: len(world.requests) == 2)
    assert sorted(world.restarted) == ["web-0", "web-1"], "no second request for the first pod"


async def test_f3_a_leader_that_is_killed_leaves_nothing_undone_and_nothing_twice(world: World) -> None:
    world.settings(FAST)
    first = await world.controller("a")
    await world.ready(first)
    await failing(world, "web-0", "web-1")
    await world.until(lambda: world.requests != [])
    await first.kill()
    second = await world.controller("b")
    await world.ready(second)
    for _ in range(6):
        world.publish("web-0", "web-1")
        await world.pass_seconds(10)
    names = [each["spec"]["podName"] for each in world.requests]
    assert len(names) == len(set(names))
    lease = world.api.get(kinds.LEASES, "probelet-controller", NAMESPACE)
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == "b"


async def test_f2_nothing_is_decided_while_the_api_server_is_away(world: World) -> None:
    world.settings(FAST)
    controller = await world.controller()
    await world.ready(controller)
    world.pod("web-0")
    await world.until(lambda: world.mapped() == ["web-0"])
    await world.api.refuse()
    await world.pass_seconds(5)
    # Meanwhile the pod fails, and recovers before the controller can know.
    world.publish("web-0")
    world.publish()
    world.pod("web-1")
    await world.api.accept()
    await world.until(lambda: world.mapped() == ["web-0", "web-1"])
    await world.until(lambda: controller.service._leading is not None and controller.service.why_not_ready is None)
    await world.pass_seconds(20)
    assert world.requests == []
    world.publish("web-1")
    await world.until(lambda: world.restarted == ["web-1"])


async def test_the_metric_page_has_every_series_of_the_page(world: World) -> None:
    controller = await world.controller()
    await world.ready(controller)
    labelled = ('probelet_elp_breaker_open{scope="node"}', 'probelet_elp_held_seconds{reason="BudgetDenied"}')
    for name in ("probelet_elp_tokens", "probelet_elp_leader", *labelled):
        assert f"\n{name} " in controller.metrics
