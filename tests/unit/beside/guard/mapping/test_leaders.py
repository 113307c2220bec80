"""A new leader, and lists that come late, again or not at all: no object is written or deleted because of it."""

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from probelet.beside.guard.mapping.mapper import Mapper
from probelet.beside.guard.mapping.protocol import (
    Configured,
    GotProbes,
    Input,
    NodeChanged,
    PodChanged,
    ProbesChanged,
    Read,
    Resync,
    Synced,
    Write,
    Wrote,
)
from probelet.beside.guard.objects.node import GuardedNode

from tests.unit.beside.guard.kubernetes_objects import pod
from tests.unit.beside.guard.mapping.test_mapper import Api

NODES = ("node1", "node2", "node3")
PODS = [pod(f"p{number:02}", node=NODES[number % 3]) for number in range(11)]


def cluster() -> list[Input]:
    """What a leader hears about the cluster, without the order."""
    nodes: list[Input] = [NodeChanged(name, GuardedNode(name)) for name in NODES]
    virtual = NodeChanged("virtual", GuardedNode("virtual", is_virtual=True))
    on_virtual = pod("v", node="virtual")
    return [*nodes, virtual, *(PodChanged(each.uid, each) for each in [*PODS, on_virtual])]


def mapped() -> dict[str, dict[str, Any]]:
    """The NodePodProbes that a former leader has written."""
    api = Api(Mapper())
    api.give(*cluster())
    api.settle()
    assert sorted(api.objects) == sorted(NODES)
    return api.objects


MAPPED = mapped()
SEEN: list[Input] = [ProbesChanged(node, obj["metadata"]["generation"]) for node, obj in MAPPED.items()]


def successor() -> Api:
    api = Api(Mapper(), is_synced=False)
    api.objects = copy.deepcopy(MAPPED)
    return api


@settings(max_examples=200, deadline=None)
@given(st.permutations([*cluster(), *SEEN, Resync(), Configured(detects=True)]))
def test_whatever_comes_first_nothing_is_written_before_or_after_all_is_known(changes: list[Input]) -> None:
    api = successor()
    for change in changes:
        api.give(change)
        assert api._left == []
        assert api.mapper.deadline(api.now) is None
    api.give(Synced(True))
    api.settle()
    assert (api.writes, api.objects, api.mapper.is_idle) == (0, MAPPED, True)
    assert api.reads == len(NODES)
    assert [each.reason for each in api.events] == ["ELPUnsupportedNode"], "no pod is mapped a second time"


@settings(max_examples=100, deadline=None)
@given(st.permutations([*cluster(), *SEEN]), st.sets(st.sampled_from(range(11))))
def test_after_the_lists_only_true_changes_are_written(changes: list[Input], gone: set[int]) -> None:
    api = successor()
    left = [each for number, each in enumerate(PODS) if number not in gone]
    uids = {PODS[number].uid for number in gone}
    api.give(*(each for each in changes if not (isinstance(each, PodChanged) and each.uid in uids)))
    api.give(Synced(True))
    api.settle()
    for node in NODES:
        assert api.names(node) == [each.name for each in left if each.node == node]
    assert api.writes == len({PODS[number].node for number in gone})


@settings(max_examples=100, deadline=None)
@given(st.permutations(PODS), st.integers(0, 11))
def test_while_pods_are_listed_again_no_entry_goes(order: list[Any], seen: int) -> None:
    """Also if the list would come page by page, and stays away for minutes."""
    api = successor()
    api.give(*cluster(), *SEEN, Synced(True))
    api.settle()
    api.give(Synced(False))
    api.give(*(PodChanged(each.uid, None) for each in PODS))
    api.give(*(PodChanged(each.uid, each) for each in order[:seen]), Resync(), Configured(detects=False))
    api.now += 600_000_000_000
    api.give(Configured(detects=True))
    api.settle()
    assert (api.writes, api.objects) == (0, MAPPED)
    api.give(*(PodChanged(each.uid, each) for each in order[seen:]), Synced(True))
    api.settle()
    assert (api.writes, api.objects) == (0, MAPPED)


def test_a_round_that_reads_while_the_connection_ends_writes_nothing_and_begins_anew() -> None:
    api = successor()
    api.give(*cluster(), *SEEN, Synced(True))
    api.settle()
    api.give(PodChanged(PODS[0].uid, None))
    assert api._left == [Read("node1")]
    api.give(Synced(False))
    api.settle()
    assert api.writes == 0
    api.give(Synced(True))
    api.settle()
    assert (api.writes, "p00" in api.names()) == (1, False)


def test_a_write_that_meets_a_conflict_while_the_connection_ends_is_not_tried_again_before_it_is_back() -> None:
    api = successor()
    api.give(*cluster(), *SEEN, Synced(True))
    api.settle()
    api.conflicts = lambda write: True
    api.give(PodChanged(PODS[0].uid, None))
    api.give(GotProbes("node1", copy.deepcopy(api.objects["node1"])), Synced(False))
    assert [type(each) for each in api._left] == [Read, Write]
    del api._left[0]
    api.settle()
    assert api.writes == 1
    api.conflicts = lambda write: False
    api.give(Synced(True))
    api.settle()
    assert (api.writes, "p00" in api.names()) == (2, False)


def test_a_pod_whose_first_write_got_no_answer_is_said_to_be_mapped_all_the_same() -> None:
    api = Api(Mapper())
    api.give(PodChanged("uid-pod1", pod()), GotProbes("node1", None))
    write = api._left[-1]
    assert isinstance(write, Write)
    api._write(write)
    api._left.clear()
    api.give(Wrote("node1", "failed"))
    api.now = api.mapper.deadline(api.now) or 0
    api.give(Resync())
    api.settle()
    assert (api.writes, [each.reason for each in api.events]) == (1, ["ELPProbeMapped"])
