"""Incidents of a cluster whose nodes publish states, not attempts."""

import pytest
from probelet.beside.guard.restart.protocol.inputs import ProbesChanged
from probelet.beside.incidents import cluster as cluster_module
from probelet.beside.incidents.noticed import Ended, Forgotten, Known

from tests.unit.beside.incidents.cluster import HEARTBEAT, Cluster

NODES = tuple(f"n{number}" for number in range(6))
ASKING = ("cart", "orders", "web")
OTHERS = ("mail", "search", "stock")


@pytest.fixture
def cluster() -> Cluster:
    """Six workloads with two pods each, on six nodes with two pods each; three of them ask one database."""
    made = Cluster()
    for place, app in enumerate((*ASKING, *OTHERS)):
        made.add(app, (NODES[place], NODES[(place + 3) % 6]), asks="db:5432" if app in ASKING else "")
    made.wait(60)
    return made


def test_nodes_with_one_or_two_pods_each_show_what_is_shared(cluster: Cluster) -> None:
    cluster.fail(*(f"{app}-{number}" for app in ASKING for number in (0, 1)), failed=False)
    cluster.wait(12)
    [found] = cluster.open
    assert (found.kind, found.shared, found.value) == ("shared", "target", "db:5432")
    assert (found.counts.pods, found.counts.nodes, found.counts.workloads) == (6, 6, 3)
    assert "6 of 6 pods that ask db:5432 fail (header_timeout)" in found.evidence
    cluster.recover(*(f"{app}-{number}" for app in ASKING for number in (0, 1)))
    cluster.wait(12)
    assert cluster.open == []


def test_restarts_meanwhile_are_for_nothing(cluster: Cluster) -> None:
    names = [f"{app}-{number}" for app in ASKING for number in (0, 1)]
    cluster.fail(*names)
    cluster.wait(12)
    cluster.request("cart-0")
    cluster.request("cart-0")
    cluster.wait(4)
    assert (cluster.open[0].killed, cluster.open[0].killed_for_nothing) == (1, 1)
    cluster.request("cart-1")
    cluster.wait(2)
    assert (cluster.open[0].killed, cluster.open[0].killed_for_nothing) == (2, 2)


def test_a_restart_begins_no_incident_before_other_nodes_have_spoken(cluster: Cluster) -> None:
    names = [f"{app}-{number}" for app in ASKING for number in (0, 1)]
    for place, name in enumerate(names):
        cluster.fail(name)
        if place == 0:
            cluster.request(name)
        cluster.wait(1)
    cluster.wait(16)
    assert [(found.kind, found.value, found.killed) for found in cluster.open] == [("shared", "db:5432", 1)]
    assert [change["change"] for change in cluster.watch.changes(0) if change["change"] != "grew"] == ["began"]


def test_most_of_a_node_is_the_node(cluster: Cluster) -> None:
    cluster.add("other", ["n0"] * 2)
    cluster.wait(60)
    cluster.fail("cart-0", "mail-1", "other-0", "other-1", cause="connect_timeout")
    cluster.wait(12)
    assert [(found.kind, found.value) for found in cluster.open] == [("node", "n0")]


def test_a_new_version_that_fails_is_a_rollout(cluster: Cluster) -> None:
    cluster.add("cart", NODES[:3], asks="db:5432", revision="2", image="cart:2", first=2)
    cluster.wait(60)
    cluster.fail("cart-2", "cart-3", "cart-4", cause="status")
    cluster.wait(12)
    [found] = cluster.open
    assert (found.kind, found.shared, found.value) == ("workload", "rollout", "default/Deployment/cart")


def test_a_state_failed_stands_for_as_many_attempts_as_the_threshold_says(cluster: Cluster) -> None:
    cluster.fail("mail-0", failed=False)
    cluster.wait(12)
    assert cluster.open == []
    cluster.wait(10)
    cluster.fail("mail-0")
    assert [(found.kind, found.value) for found in cluster.open] == [("container", "default/mail-0/app")]
    turns = [turn for each in cluster.noticed if isinstance(each, Ended) for turn in each.turns if not turn.is_good]
    assert len(turns) == 3


def test_failed_at_once_is_one_containers_after_a_period_and_the_delay_of_the_writes(cluster: Cluster) -> None:
    cluster.fail("mail-0")
    cluster.wait(14)
    assert cluster.open == []
    cluster.wait(2)
    assert [found.kind for found in cluster.open] == ["container"]


def test_commands_name_what_they_ask(cluster: Cluster) -> None:
    context = '[{"name":"app","livenessProbe":{"exec":{"command":["pg_isready","-h","pg"]}}}]'
    cluster.add("job", ("n0",), context=context, asks="cache")
    known = [each for each in cluster.noticed if isinstance(each, Known)][-1]
    assert known.subjects[0].targets == ("cache", "pg")
    assert known.subjects[0].workload == "Deployment/job"


def test_a_silent_node_says_nothing_until_it_is_heard(cluster: Cluster) -> None:
    cluster.fail("mail-0")
    cluster.wait(16)
    assert cluster.open != []
    cluster.wait(2 * HEARTBEAT + 60)
    assert cluster.incidents.nodes["n3"].is_silent
    cluster.wait(12)
    assert cluster.open == []
    cluster.publish("n3")
    assert not cluster.incidents.nodes["n3"].is_silent
    assert cluster.incidents.watched == 12


def test_a_node_that_fails_on_is_not_silent_while_it_writes_heartbeats(cluster: Cluster) -> None:
    for _ in range(4):
        cluster.fail("mail-0")
        cluster.wait(HEARTBEAT)
    assert not cluster.incidents.nodes["n3"].is_silent
    assert cluster.open != []


def test_a_node_that_is_not_ready_does_not_count(cluster: Cluster) -> None:
    cluster.ready("n3", is_ready=False)
    cluster.fail("mail-0")
    cluster.wait(12)
    assert cluster.open == []
    assert cluster.incidents.nodes["n3"].now == "?"
    cluster.ready("n3", is_ready=True)
    assert cluster.incidents.watched == 12


def test_pods_and_nodes_go(cluster: Cluster) -> None:
    cluster.fail("mail-0")
    cluster.remove("mail-0")
    cluster.wait(12)
    assert cluster.open == []
    cluster.give(ProbesChanged("n0", None))
    assert sorted(cluster.incidents.nodes) == list(NODES[1:])
    assert cluster.incidents.watched == 9


def test_pods_beyond_the_limit_are_not_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "PODS_MAX", 2)
    cluster = Cluster()
    cluster.add("web", NODES)
    assert (cluster.incidents.pods, cluster.incidents.watched) == (6, 2)
    assert all(seen.total == 1 for seen in cluster.incidents.nodes.values())
    cluster.remove("web-0")
    cluster.publish("n5")
    cluster.fail("web-5")
    assert cluster.incidents.watched == 2


def test_everything_that_is_known_is_forgotten_once(cluster: Cluster) -> None:
    for node in NODES:
        cluster.give(ProbesChanged(node, None))
    forgotten = [each.uid for each in cluster.noticed if isinstance(each, Forgotten)]
    assert sorted(forgotten) == sorted(cluster.pods)
    assert cluster.watch._pods == {}


def test_beats_show_the_last_minutes(cluster: Cluster) -> None:
    cluster.fail("mail-0", failed=False)
    cluster.wait(10)
    cluster.fail("mail-0")
    cluster.wait(10)
    cluster.recover("mail-0")
    cluster.wait(20)
    assert cluster.incidents.nodes["n3"].beats[-4:] == "~!!."
    cluster.wait(1_000)
    assert len(cluster.incidents.nodes["n3"].beats) == 63
