"""What the controller says about failures of several pods decides about their restarts, and the events name it."""

import re
import time

import pytest

from tests.cluster.control_plane.api import Object
from tests.cluster.guarded.stage import Stage, failing, guarded, steady
from tests.cluster.node import Node
from tests.cluster.several.requests import most_at_once, noted
from tests.cluster.several.workloads import on
from tests.kubelet.beside.pods.make import container, pod

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

ASKED, INSIDE = [f"asked-{number}" for number in range(4)], [f"inside-{number}" for number in range(2)]
QUIET_SECONDS = 30.0
"""The longest time after which the controller judges a pod again that a breaker holds back."""
DATABASE = "database"
PLAY_SECONDS = 300.0
"""Two restarts one after the other, on a busy machine."""


def is_within(name: str) -> Object:
    """A pod whose probe is a command: it needs no network."""
    return guarded(pod(name, container(livenessProbe={"exec": {"command": ["true"]}, "periodSeconds": 1})))


def asks(name: str, address: str) -> Object:
    """A pod that is well while something answers at this address."""
    words = ["wget", "-q", "-O", "-", f"http://{address}:8080/answer/{name}/200"]
    # A node knows after three seconds that it has no route, and others wait for their timeout.
    probe = {"exec": {"command": words}, "periodSeconds": 4, "timeoutSeconds": 4, "failureThreshold": 2}
    return guarded(pod(name, container("--term", "100", livenessProbe=probe)))


def said(stage: Stage, title: str) -> set[str]:
    """The pods with an event that says which incident holds their restart back."""
    text = re.compile(rf"a restart would not mend incident \S+ \({re.escape(title)}\)")
    found = [event for event in stage.events("BreakerOpen") if text.search(event["message"])]
    return {event["involvedObject"]["name"] for event in found}


def test_a_node_that_does_not_reach_its_pods_restarts_none_and_the_others_go_on(stage: Stage) -> None:
    """Four of its six pods fail: by the share alone, 0.8, all four would be restarted."""
    _, broken, other = stage.cluster.nodes
    stage.enhanced.settings(nodeBreaker_minPods="4")
    well = [f"well-{number}" for number in range(4)]
    here = [on(broken.name, thing) for thing in (*map(steady, ASKED), *map(is_within, INSIDE))]
    stage.run(*here, *(on(other.name, steady(name)) for name in well))
    names = (*ASKED, *INSIDE)
    stage.until(lambda: all(stage.state(name) == "Succeeded" for name in (*names, *well)), "a first result of each")
    with broken.unreachable([stage.namespace.pod(name)["status"]["podIP"] for name in ASKED]):
        stage.until(lambda: all(stage.state(name) == "Failed" for name in ASKED), "the failure of each")
        stage.until(lambda: said(stage, f"node {broken.name}") == set(ASKED), "the incident in an event of each")
        stage.until(lambda: of_node(stage, broken), "the event of the node")
        stage.run(on(other.name, failing("alone")))
        stage.until_restarted("alone")
        time.sleep(QUIET_SECONDS)
        assert {one["spec"]["podName"] for one in stage.requests()} == {"alone"}
    stage.until(lambda: all(stage.state(name) == "Succeeded" for name in ASKED), "the recovery of each")
    assert [stage.restarts(name) for name in (*names, *well)] == [0] * 10
    stage.no_container_was_asked_for_twice()


def of_node(stage: Stage, node: Node) -> list[str]:
    """The texts of the events about the node that name its incident."""
    path, field = "/api/v1/namespaces/default/events", f"involvedObject.kind=Node,involvedObject.name={node.name}"
    found = stage.cluster.api.items(path, fieldSelector=f"{field},reason=ELPBreakerOpen")
    return [event["message"] for event in found if f"(node {node.name})" in event["message"]]


def test_of_workloads_on_all_nodes_that_ask_one_database_one_is_restarted_at_a_time(stage: Stage) -> None:
    """Each is a workload of its own, and one of few pods of its node: no share would hold any of them back."""
    stage.enhanced.settings(dryRun="true", breaker_action="block")
    nodes = [node.name for node in stage.cluster.nodes]
    stage.namespace.create(on(nodes[0], pod(DATABASE, container())))
    stage.namespace.until(lambda: stage.namespace.pod(DATABASE)["status"].get("podIP"), "the address of the database")
    address = stage.namespace.pod(DATABASE)["status"]["podIP"]
    asking = {f"asks-{node}": on(node, asks(f"asks-{node}", address)) for node in nodes}
    stage.run(*asking.values(), *(on(node, steady(f"well-{node}")) for node in nodes))
    stage.until(lambda: all(stage.state(name) == "Succeeded" for name in asking), "the database to answer each")
    stage.cluster.api.delete(stage.namespace.path("pods", DATABASE), grace_seconds=0)
    stage.until(lambda: all(stage.state(name) == "Failed" for name in asking), "the failure of each")
    title = f"shared target {address}"
    stage.until(lambda: said(stage, title) == set(asking), "the incident in an event of each")
    with noted(stage) as requests:
        stage.enhanced.settings(dryRun="false", breaker_action="serialize")
        stage.until(lambda: sum(stage.restarts(name) > 0 for name in asking) >= 2, "restarts of two", PLAY_SECONDS)
    assert most_at_once(requests) == 1
    assert [stage.restarts(f"well-{node}") for node in nodes] == [0] * len(nodes)
    stage.no_container_was_asked_for_twice()
