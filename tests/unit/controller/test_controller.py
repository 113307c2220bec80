"""The controller on an API server, from the pod to the request and back."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from probelet.beside.guard.names import CREATED_BY_US
from probelet.kube import kinds

from tests.support.kube_api import Answer, Drop
from tests.unit.controller.scripted_cluster import FAST, ScriptedCluster


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[ScriptedCluster]:
    async with ScriptedCluster() as cluster:
        cluster.node("node-1")
        cluster.node("node-2")
        cluster.workload()
        cluster.settings(FAST)
        yield cluster


async def test_from_the_pod_to_the_request_and_its_collection(cluster: ScriptedCluster) -> None:
    cluster.settings({**FAST, "crr.ttlSeconds": "5"})
    controller = await cluster.controller()
    for number in range(3):
        cluster.pod(f"web-{number}")
    await cluster.until(lambda: len(cluster.mapped()) == 3)
    [probe] = cluster.probes()["spec"]["podProbes"][0]["probes"]
    assert (probe["name"], probe["probe"]["failureThreshold"]) == ("web-0-app", 3)
    assert cluster.probes()["metadata"]["annotations"][CREATED_BY_US] == "true"
    await cluster.ready(controller)
    cluster.publish("web-1")
    await cluster.until(lambda: cluster.requests != [])
    [request] = cluster.requests
    assert request["metadata"]["name"].startswith("web-1-")
    assert request["spec"]["containers"][0]["statusContext"]["containerID"] == "containerd://web-1-0"
    await cluster.until(lambda: cluster.events("ELPRestarting") != [])
    [event] = cluster.events("ELPRestarting")
    assert event["involvedObject"]["name"] == "web-1"
    assert "statuscode: 503" in event["message"]
    cluster.complete(request)
    await cluster.until(lambda: controller.count('probelet_elp_crr_duration_seconds_count{result="succeeded"}') == 1)
    await cluster.until(lambda: cluster.requests == [])
    for number in range(3):
        cluster.api.remove(kinds.PODS, f"web-{number}", "default")
    await cluster.until(lambda: cluster.probes() is None)


async def test_f1c_a_pod_that_opts_out_is_not_probed_any_more(cluster: ScriptedCluster) -> None:
    await cluster.controller()
    cluster.pod("web-0")
    cluster.pod("web-1")
    await cluster.until(lambda: cluster.mapped() == ["web-0", "web-1"])
    cluster.opted_out("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-1"])


async def test_m7_conflicts_and_lost_answers_of_the_mapping(cluster: ScriptedCluster) -> None:
    cluster.api.faults.add(Answer(409, reason="Conflict"), "create", "nodepodprobes", times=2)
    cluster.api.faults.add(Drop(carried_out=True), "create", "nodepodprobes")
    cluster.api.faults.add(Answer(409, reason="Conflict"), "update", "nodepodprobes", times=3)
    cluster.api.faults.add(Answer(500), "update", "nodepodprobes", times=1)
    await cluster.controller()
    cluster.pod("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    cluster.pod("web-1")
    await cluster.until(lambda: cluster.mapped() == ["web-0", "web-1"])


async def test_f8_an_object_that_somebody_deletes_is_made_again(cluster: ScriptedCluster) -> None:
    await cluster.controller()
    cluster.pod("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    cluster.api.remove(kinds.NODE_POD_PROBES, "node-1")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])


async def test_m7_what_others_wrote_stays(cluster: ScriptedCluster) -> None:
    foreign = {
        "name": "web-0",
        "namespace": "default",
        "uid": "x",
        "IP": "",
        "probes": [{"name": "ppm#a", "containerName": "app", "probe": {"exec": {"command": ["x"]}}}],
    }
    cluster.api.put(kinds.NODE_POD_PROBES, {"metadata": {"name": "node-1"}, "spec": {"podProbes": [foreign]}})
    await cluster.controller()
    cluster.pod("web-0")
    await cluster.until(lambda: len(cluster.mapped()) == 2)
    assert cluster.probes()["spec"]["podProbes"][0] == foreign
    cluster.api.remove(kinds.PODS, "web-0", "default")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    assert cluster.probes()["spec"]["podProbes"] == [foreign]


async def test_a_status_of_a_node_causes_no_read_of_the_mapping(cluster: ScriptedCluster) -> None:
    controller = await cluster.controller()
    cluster.pod("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    await cluster.ready(controller)
    await cluster.pass_seconds(1)
    before = cluster.api.seen("get", "nodepodprobes")
    for _ in range(20):
        cluster.publish()
        await cluster.pass_seconds(1)
    assert cluster.api.seen("get", "nodepodprobes") == before


async def test_t32_a_budget_at_zero_keeps_the_pod_and_a_change_lets_it_go(cluster: ScriptedCluster) -> None:
    controller = await cluster.controller()
    cluster.pdb(0)
    cluster.pod("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    await cluster.ready(controller)
    cluster.publish("web-0")
    await cluster.until(lambda: cluster.events("BudgetDenied") != [])
    assert cluster.requests == []
    assert controller.count('probelet_elp_decisions_total{reason="BudgetDenied"}') >= 1
    cluster.pdb(1)
    await cluster.until(lambda: cluster.restarted == ["web-0"])


async def test_t31_a_place_in_a_pod_unavailable_budget_is_written_first(cluster: ScriptedCluster) -> None:
    status = {"observedGeneration": 1, "unavailableAllowed": 1, "desiredAvailable": 9, "unavailablePods": {}}
    pub = {
        "metadata": {"name": "web", "namespace": "default", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 1},
        "status": status,
    }
    cluster.api.put(kinds.POD_UNAVAILABLE_BUDGETS, pub)
    controller = await cluster.controller()
    cluster.pod("web-0")
    cluster.pod("web-1")
    await cluster.until(lambda: len(cluster.mapped()) == 2)
    await cluster.ready(controller)
    await cluster.pass_seconds(2)
    cluster.publish("web-0", "web-1")
    await cluster.until(lambda: cluster.requests != [])
    await cluster.pass_seconds(3)
    assert len(cluster.requests) == 1
    kept = cluster.api.get(kinds.POD_UNAVAILABLE_BUDGETS, "web", "default")
    assert kept is not None
    assert kept["status"]["unavailableAllowed"] == 0
    assert list(kept["status"]["unavailablePods"]) == cluster.restarted


async def test_f13_a_create_that_is_refused_has_an_event_and_no_tight_loop(cluster: ScriptedCluster) -> None:
    cluster.api.faults.add(Answer(403, message="denied by policy"), "create", "containerrecreaterequests", times=None)
    controller = await cluster.controller()
    cluster.pod("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    await cluster.ready(controller)
    cluster.publish("web-0")
    await cluster.until(lambda: cluster.events("ELPCreateRejected") != [])
    assert "denied by policy" in cluster.events("ELPCreateRejected")[0]["message"]
    await cluster.pass_seconds(30)
    assert cluster.api.seen("create", "containerrecreaterequests") <= 3


async def test_t37_a_create_whose_answer_is_lost_happens_once(cluster: ScriptedCluster) -> None:
    cluster.api.faults.add(Drop(carried_out=True), "create", "containerrecreaterequests")
    controller = await cluster.controller()
    cluster.pod("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    await cluster.ready(controller)
    cluster.publish("web-0")
    await cluster.until(lambda: cluster.requests != [])
    for _ in range(10):
        cluster.publish("web-0")
        await cluster.pass_seconds(20)
    assert len(cluster.requests) == 1


async def test_a_busy_server_gets_its_time(cluster: ScriptedCluster) -> None:
    answer = Answer(429, headers={"Retry-After": "3"})
    cluster.api.faults.add(answer, "create", "containerrecreaterequests", times=2)
    controller = await cluster.controller()
    cluster.pod("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    await cluster.ready(controller)
    cluster.publish("web-0")
    await cluster.until(lambda: cluster.requests != [])
    assert cluster.api.seen("create", "containerrecreaterequests") == 3


async def test_beside_openkruise(cluster: ScriptedCluster) -> None:
    controller = await cluster.controller(naming="coexist", keep_empty=True, fills_context=False)
    cluster.pod("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    assert cluster.probes()["spec"]["podProbes"][0]["probes"][0]["name"] == "enhanced-liveness_#app"
    await cluster.ready(controller)
    cluster.publish("web-0")
    await cluster.until(lambda: cluster.requests != [])
    assert cluster.requests[0]["spec"]["containers"] == [{"name": "app"}]


@pytest.mark.parametrize("is_wanted", [True, False])
async def test_r15_the_last_decision_on_the_pod(cluster: ScriptedCluster, is_wanted: bool) -> None:
    cluster.settings({**FAST, "annotatePods": "true" if is_wanted else "false"})
    controller = await cluster.controller()
    cluster.pod("web-0")
    await cluster.until(lambda: cluster.mapped() == ["web-0"])
    await cluster.ready(controller)
    cluster.publish("web-0")
    await cluster.until(lambda: cluster.requests != [])
    await cluster.pass_seconds(1)
    pod = cluster.api.get(kinds.PODS, "web-0", "default")
    assert pod is not None
    assert ("elp.kruise.io/last-decision" in pod["metadata"]["annotations"]) == is_wanted
