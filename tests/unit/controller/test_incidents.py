"""Incidents of a cluster, from the states that its nodes publish to the controller's pages, events and metrics."""

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from probelet.controller.view import ControllerView
from probelet.kube import kinds
from probelet.server.address import Address, listening_socket
from probelet.server.pages.nodes import NodesServer

from tests.support.kube_api import Answer
from tests.unit.controller.scripted_cluster import FAST, ScriptedCluster

NODES = ("node-1", "node-2", "node-3", "node-4")
ASKING = ("cart", "orders", "web")
PODS = {app: [f"{app}-{number}" for number in (0, 1)] for app in (*ASKING, "mail", "stock")}
SHARED = [pod for app in ASKING for pod in PODS[app]]


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[ScriptedCluster]:
    """Three workloads that ask one database and two that do not, on four nodes; nothing is restarted."""
    async with ScriptedCluster() as cluster:
        cluster.settings({"dryRun": "true"})
        for node in NODES:
            cluster.node(node)
        for place, app in enumerate(PODS):
            for number, pod in enumerate(PODS[app]):
                asks = "db:5432" if app in ASKING else ""
                cluster.pod(pod, NODES[(place + 2 * number) % 4], app=app, asks=asks)
        yield cluster


def publish(cluster: ScriptedCluster, *failed: str) -> None:
    for node in NODES:
        cluster.publish(*failed, node=node)


async def all_mapped(cluster: ScriptedCluster) -> None:
    await cluster.until(lambda: sum(len(cluster.mapped(node)) for node in NODES) == 10)
    publish(cluster)


async def test_a_shared_dependency_is_one_incident(cluster: ScriptedCluster) -> None:
    leader = await cluster.ready(await cluster.controller())
    await all_mapped(cluster)
    await cluster.pass_seconds(30)
    publish(cluster, *SHARED)
    await cluster.until(lambda: leader.count('probelet_incident_open{kind="shared"}') == 1)
    await cluster.until(lambda: cluster.events("IncidentBegan") != [])
    [event] = cluster.events("IncidentBegan")
    assert event["involvedObject"]["kind"] == "Pod"
    assert event["involvedObject"]["name"] in SHARED
    assert "begins: shared target db:5432: 6 of 6 pods that ask db:5432 fail" in event["message"]
    assert leader.count('probelet_incidents_total{kind="shared"}') == 1
    publish(cluster)
    await cluster.until(lambda: cluster.events("IncidentEnded") != [])
    assert leader.count('probelet_incident_open{kind="shared"}') == 0
    assert len(cluster.events("IncidentBegan")) == 1


async def test_a_node_that_fails_has_the_event(cluster: ScriptedCluster) -> None:
    await cluster.ready(await cluster.controller())
    await all_mapped(cluster)
    await cluster.pass_seconds(30)
    publish(cluster, *cluster.mapped("node-1"))
    await cluster.until(lambda: cluster.events("IncidentBegan") != [])
    [event] = cluster.events("IncidentBegan")
    assert event["involvedObject"] == {"apiVersion": "v1", "kind": "Node", "name": "node-1", "uid": "node-1"}


async def test_of_what_shares_one_dependency_one_is_restarted_at_a_time(cluster: ScriptedCluster) -> None:
    leader = await cluster.ready(await cluster.controller())
    await all_mapped(cluster)
    await cluster.pass_seconds(30)
    publish(cluster, *SHARED)
    await cluster.until(lambda: leader.count('probelet_incident_open{kind="shared"}') == 1)
    # No breaker of a node or workload by a share: six pods are on four nodes, and two of each workload.
    cluster.settings(FAST)
    await cluster.until(lambda: cluster.requests != [])
    await cluster.until(lambda: len(cluster.events("BreakerOpen")) == 5)
    await cluster.pass_seconds(20)
    [request] = cluster.requests
    text = "(shared target db:5432), and pod default/"
    messages = [event["message"] for event in cluster.events("BreakerOpen")]
    assert all(text in message for message in messages), messages
    trial = request["spec"]["podName"]
    assert f"{text}{trial} of it is restarted first: 6 of 6 pods that ask db:5432 fail (status)" in messages[0]
    assert leader.count('probelet_elp_breaker_open{scope="workload"}') == 3
    # It is over, and what fails for a reason of its own is restarted.
    publish(cluster)
    await cluster.until(lambda: leader.count('probelet_incident_open{kind="shared"}') == 0)
    publish(cluster, "mail-0")
    await cluster.until(lambda: "mail-0" in cluster.restarted)
    assert leader.count('probelet_elp_breaker_open{scope="workload"}') == 0


async def test_what_waits_for_an_incident_is_judged_as_soon_as_it_is_over(cluster: ScriptedCluster) -> None:
    leader = await cluster.ready(await cluster.controller())
    await all_mapped(cluster)
    await cluster.pass_seconds(30)
    publish(cluster, *SHARED)
    await cluster.until(lambda: leader.count('probelet_incident_open{kind="shared"}') == 1)
    cluster.settings({**FAST, "breaker.action": "block"})
    await cluster.until(lambda: len(cluster.events("BreakerOpen")) == 6)
    # One is left, which is a tenth of none: its own reason now.
    publish(cluster, SHARED[0])
    await cluster.until(lambda: cluster.restarted != [])
    assert cluster.restarted == [SHARED[0]]


async def test_one_that_stands_by_knows_and_says_nothing(cluster: ScriptedCluster) -> None:
    first = await cluster.controller("a")
    await cluster.ready(first)
    second = await cluster.controller("b")
    await all_mapped(cluster)
    await cluster.until(lambda: second.service.why_not_ready is None)
    await cluster.pass_seconds(30)
    publish(cluster, *SHARED)
    await cluster.until(lambda: cluster.events("IncidentBegan") != [])
    view = ControllerView(second.service, cluster.clock)
    assert view.document("")["leads"] is False
    assert "This controller stands by, and another one holds the Lease" in view.document("")["notes"][0]
    assert [found["value"] for found in view.incidents.document()["open"]] == ["db:5432"]
    assert "probelet_incident" not in second.metrics
    # The next leader knows what is open, and ends it.
    await first.stop()
    await cluster.ready(second)
    assert second.count('probelet_incident_open{kind="shared"}') == 1
    publish(cluster)
    await cluster.until(lambda: cluster.events("IncidentEnded") != [])
    assert len(cluster.events("IncidentBegan")) == 1


async def test_without_the_right_to_write_events_incidents_go_on_and_the_log_says_it_once(
    cluster: ScriptedCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.api.faults.add(Answer(403, reason="Forbidden"), "create", "events", times=1_000)
    leader = await cluster.ready(await cluster.controller())
    await all_mapped(cluster)
    await cluster.pass_seconds(30)
    for _ in range(2):
        publish(cluster, *SHARED)
        await cluster.until(lambda: leader.count('probelet_incident_open{kind="shared"}') == 1)
        publish(cluster)
        await cluster.until(lambda: leader.count('probelet_incident_open{kind="shared"}') == 0)
    await cluster.until(lambda: leader.service._events.refused >= 4)
    line = "an event cannot be written; the event is lost, and those after it while this lasts"
    assert capsys.readouterr().out.count(line) == 1


async def test_before_anything_is_read_the_page_says_so(cluster: ScriptedCluster) -> None:
    cluster.api.faults.add(Answer(503), "list", "nodepodprobes", times=None)
    controller = await cluster.controller()
    await cluster.until(
        lambda: (controller.service.why_not_known or "").endswith("reach: nodepodprobes.apps.kruise.io")
    )
    notes = ControllerView(controller.service, cluster.clock).document("")["notes"]
    assert any("out of reach: nodepodprobes" in note.lower() for note in notes), notes


async def test_the_pages(cluster: ScriptedCluster) -> None:
    controller = await cluster.ready(await cluster.controller())
    await all_mapped(cluster)
    await cluster.pass_seconds(30)
    publish(cluster, "cart-0")
    await cluster.pass_seconds(5)
    listening = listening_socket(Address("127.0.0.1", 0))
    server = NodesServer(ControllerView(controller.service, cluster.clock), listening)
    await server.start()

    async def get(session: aiohttp.ClientSession, path: str) -> Any:
        async with session.get(listening.address.url(path)) as answer:
            assert answer.status == 200
            return json.loads(await answer.text())

    async with aiohttp.ClientSession() as session:
        page = await get(session, "/heartbeats")
        assert (page["node"], page["words"]["noun"], page["pods"], page["ready"]) == ("cluster", "node", 4, 3)
        first = page["rows"][0]
        assert (first["name"], first["says"], first["rank"]) == ("node-1", "failed", 0)
        assert first["notes"] == ["default/cart-0 app: Failed (status): HTTP probe failed with statuscode: 503"]
        assert first["containers"][0]["probes"][0]["beats"].endswith("!")
        document = await get(session, f"/statusz?{first['detail']}")
        assert document["schema"] == "probelet-nodes/1"
        [node] = document["nodes"]
        assert {(each["pod"], each["state"]) for each in node["states"]} >= {("default/cart-0", "Failed")}
        assert [each["name"] for each in (await get(session, "/statusz"))["nodes"]] == list(NODES)
        assert (await get(session, "/statusz?node=nobody"))["nodes"] == []
        assert (await get(session, "/incidents"))["node"] == "cluster"
    await server.close()


async def test_a_cluster_without_agents(cluster: ScriptedCluster) -> None:
    controller = await cluster.ready(await cluster.controller())
    await cluster.until(lambda: sum(len(cluster.mapped(node)) for node in NODES) == 10)
    await cluster.pass_seconds(2)
    rows = list(ControllerView(controller.service, cluster.clock).told().rows)
    assert {row["says"] for row in rows} == {"unknown"}
    assert rows[0]["notes"] == ["no agent has said anything about these probes yet"]
    cluster.set_status(kinds.NODES, "node-1", {"conditions": [{"type": "Ready", "status": "Unknown"}]}, "")
    await cluster.pass_seconds(2)
    rows = list(ControllerView(controller.service, cluster.clock).told().rows)
    assert {row["name"]: row["says"] for row in rows}["node-1"] == "not Ready"
