"""The controller on an API server, from the pod to the request and back."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from probelet.beside.guard.names import CREATED_BY_US
from probelet.kube import kinds

from tests.support.kube_api import Answer, Drop
from tests.unit.controller.world import FAST, World


@pytest_asyncio.fixture
async def world() -> AsyncIterator[World]:
    async with World() as world:
        world.node("node-1")
        world.node("node-2")
        world.workload()
        world.settings(FAST)
        yield world


async def test_from_the_pod_to_the_request_and_its_collection(world: World) -> None:
    world.settings({**FAST, "crr.ttlSeconds": "5"})
    controller = await world.controller()
    for number in range(3):
        world.pod(f"web-{number}")
    await world.until(lambda: len(world.mapped()) == 3)
    [probe] = world.probes()["spec"]["podProbes"][0]["probes"]
    assert (probe["name"], probe["probe"]["failureThreshold"]) == ("web-0-app", 3)
    assert world.probes()["metadata"]["annotations"][CREATED_BY_US] == "true"
    await world.ready(controller)
    world.publish("web-1")
    await world.until(lambda: world.requests != [])
    [request] = world.requests
    assert request["metadata"]["name"].startswith("web-1-")
    assert request["spec"]["containers"][0]["statusContext"]["containerID"] == "containerd://web-1-0"
    await world.until(lambda: world.events("ELPRestarting") != [])
    [event] = world.events("ELPRestarting")
    assert event["involvedObject"]["name"] == "web-1"
    assert "statuscode: 503" in event["message"]
    world.complete(request)
    await world.until(lambda: controller.count('probelet_elp_crr_duration_seconds_count{result="succeeded"}') == 1)
    await world.until(lambda: world.requests == [])
    for number in range(3):
        world.api.remove(kinds.PODS, f"web-{number}", "default")
    await world.until(lambda: world.probes() is None)


async def test_f1c_a_pod_that_opts_out_is_not_probed_any_more(world: World) -> None:
    await world.controller()
    world.pod("web-0")
    world.pod("web-1")
    await world.until(lambda: world.mapped() == ["web-0", "web-1"])
    world.opted_out("web-0")
    await world.until(lambda: world.mapped() == ["web-1"])


async def test_m7_conflicts_and_lost_answers_of_the_mapping(world: World) -> None:
    world.api.faults.add(Answer(409, reason="Conflict"), "create", "nodepodprobes", times=2)
    world.api.faults.add(Drop(carried_out=True), "create", "nodepodprobes")
    world.api.faults.add(Answer(409, reason="Conflict"), "update", "nodepodprobes", times=3)
    world.api.faults.add(Answer(500), "update", "nodepodprobes", times=1)
    await world.controller()
    world.pod("web-0")
    await world.until(lambda: world.mapped() == ["web-0"])
    world.pod("web-1")
    await world.until(lambda: world.mapped() == ["web-0", "web-1"])


async def test_f8_an_object_that_somebody_deletes_is_made_again(world: World) -> None:
    await world.controller()
    world.pod("web-0")
    await world.until(lambda: world.mapped() == ["web-0"])
    world.api.remove(kinds.NODE_POD_PROBES, "node-1")
    await world.until(lambda: world.mapped() == ["web-0"])


async def test_m7_what_others_wrote_stays(world: World) -> None:
    foreign = {
        "name": "web-0",
        "namespace": "default",
        "uid": "x",
        "IP": "",
        "probes": [{"name": "ppm#a", "containerName": "app", "probe": {"exec": {"command": ["x"]}}}],
    }
    world.api.put(kinds.NODE_POD_PROBES, {"metadata": {"name": "node-1"}, "spec": {"podProbes": [foreign]}})
    await world.controller()
    world.pod("web-0")
    await world.until(lambda: len(world.mapped()) == 2)
    assert world.probes()["spec"]["podProbes"][0] == foreign
    world.api.remove(kinds.PODS, "web-0", "default")
    await world.until(lambda: world.mapped() == ["web-0"])
    assert world.probes()["spec"]["podProbes"] == [foreign]


async def test_a_status_of_a_node_causes_no_read_of_the_mapping(world: World) -> None:
    controller = await world.controller()
    world.pod("web-0")
    await world.until(lambda: world.mapped() == ["web-0"])
    await world.ready(controller)
    await world.pass_seconds(1)
    before = world.api.seen("get", "nodepodprobes")
    for _ in range(20):
        world.publish()
        await world.pass_seconds(1)
    assert world.api.seen("get", "nodepodprobes") == before


async def test_t32_a_budget_at_zero_keeps_the_pod_and_a_change_lets_it_go(world: World) -> None:
    controller = await world.controller()
    world.pdb(0)
    world.pod("web-0")
    await world.until(lambda: world.mapped() == ["web-0"])
    await world.ready(controller)
    world.publish("web-0")
    await world.until(lambda: world.events("BudgetDenied") != [])
    assert world.requests == []
    assert controller.count('probelet_elp_decisions_total{reason="BudgetDenied"}') >= 1
    world.pdb(1)
    await world.until(lambda: world.restarted == ["web-0"])


async def test_t31_a_place_in_a_pod_unavailable_budget_is_written_first(world: World) -> None:
    status = {"observedGeneration": 1, "unavailableAllowed": 1, "desiredAvailable": 9, "unavailablePods": {}}
    pub = {
        "metadata": {"name": "web", "namespace": "default", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 1},
        "status": status,
    }
    world.api.put(kinds.POD_UNAVAILABLE_BUDGETS, pub)
    controller = await world.controller()
    world.pod("web-0")
    world.pod("web-1")
    await world.until(lambda: len(world.mapped()) == 2)
    await world.ready(controller)
    await world.pass_seconds(2)
    world.publish("web-0", "web-1")
    await world.until(lambda: world.requests != [])
    await world.pass_seconds(3)
    assert len(world.requests) == 1
    kept = world.api.get(kinds.POD_UNAVAILABLE_BUDGETS, "web", "default")
    assert kept is not None
    assert kept["status"]["unavailableAllowed"] == 0
    assert list(kept["status"]["unavailablePods"]) == world.restarted


async def test_f13_a_create_that_is_refused_has_an_event_and_no_tight_loop(world: World) -> None:
    world.api.faults.add(Answer(403, message="denied by policy"), "create", "containerrecreaterequests", times=None)
    controller = await world.controller()
    world.pod("web-0")
    await world.until(lambda: world.mapped() == ["web-0"])
    await world.ready(controller)
    world.publish("web-0")
    await world.until(lambda: world.events("ELPCreateRejected") != [])
    assert "denied by policy" in world.events("ELPCreateRejected")[0]["message"]
    await world.pass_seconds(30)
    assert world.api.seen("create", "containerrecreaterequests") <= 3


async def test_t37_a_create_whose_answer_is_lost_happens_once(world: World) -> None:
    world.api.faults.add(Drop(carried_out=True), "create", "containerrecreaterequests")
    controller = await world.controller()
    world.pod("web-0")
    await world.until(lambda: world.mapped() == ["web-0"])
    await world.ready(controller)
    world.publish("web-0")
    await world.until(lambda: world.requests != [])
    for _ in range(10):
        world.publish("web-0")
        await world.pass_seconds(20)
    assert len(world.requests) == 1


async def test_a_busy_server_gets_its_time(world: World) -> None:
    answer = Answer(429, headers={"Retry-After": "3"})
    world.api.faults.add(answer, "create", "containerrecreaterequests", times=2)
    controller = await world.controller()
    world.pod("web-0")
    await world.until(lambda: world.mapped() == ["web-0"])
    await world.ready(controller)
    world.publish("web-0")
    await world.until(lambda: world.requests != [])
    assert world.api.seen("create", "containerrecreaterequests") == 3


async def test_beside_openkruise(world: World) -> None:
    controller = await world.controller(naming="coexist", keep_empty=True, fills_context=False)
    world.pod("web-0")
    await world.until(lambda: world.mapped() == ["web-0"])
    assert world.probes()["spec"]["podProbes"][0]["probes"][0]["name"] == "enhanced-liveness_#app"
    await world.ready(controller)
    world.publish("web-0")
    await world.until(lambda: world.requests != [])
    assert world.requests[0]["spec"]["containers"] == [{"name": "app"}]


@pytest.mark.parametrize("is_wanted", [True, False])
async def test_r15_the_last_decision_on_the_pod(world: World, is_wanted: bool) -> None:
    world.settings({**FAST, "annotatePods": "true" if is_wanted else "false"})
    controller = await world.controller()
    world.pod("web-0")
    await world.until(lambda: world.mapped() == ["web-0"])
    await world.ready(controller)
    world.publish("web-0")
    await world.until(lambda: world.requests != [])
    await world.pass_seconds(1)
    pod = world.api.get(kinds.PODS, "web-0", "default")
    assert pod is not None
    assert ("elp.kruise.io/last-decision" in pod["metadata"]["annotations"]) == is_wanted
