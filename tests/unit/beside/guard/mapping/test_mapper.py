"""The mapping as a machine, with an API server that keeps one version of each object."""

import copy
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from probelet.beside.guard.mapping.mapper import CONFLICTS_MAX, ROUNDS_MAX, Mapper
from probelet.beside.guard.mapping.merge import MergeOptions
from probelet.beside.guard.mapping.protocol import (
    Configured,
    GotProbes,
    Input,
    NodeChanged,
    PodChanged,
    PodEvent,
    ProbesChanged,
    Read,
    Resync,
    Synced,
    Write,
    Wrote,
)
from probelet.beside.guard.objects.node import GuardedNode
from probelet.beside.guard.objects.pod import GuardedPod

from tests.unit.beside.guard.kubernetes_objects import EXEC_ENTRY, pod

SECOND = 1_000_000_000


class Api:
    """NodePodProbes with versions; answers each read and write of the machine at once, in order."""

    def __init__(self, mapper: Mapper, *, is_synced: bool = True) -> None:
        self.mapper = mapper
        self.now = 0
        self.objects: dict[str, dict[str, Any]] = {}
        self.versions = 0
        self.writes = 0
        self.reads = 0
        self.events: list[PodEvent] = []
        self.conflicts: Callable[[Write], bool] = lambda write: False
        self.broken = False
        self._left: list[Read | Write] = []
        if is_synced:
            self.give(Synced(True))

    def give(self, *changes: Input) -> None:
        """Inputs that arrive before the API server answers anything."""
        for change in changes:
            self._take(self.mapper.handle(self.now, change))

    def settle(self) -> None:
        while self._left:
            call = self._left.pop(0)
            answer = self._read(call) if isinstance(call, Read) else self._write(call)
            self._take(self.mapper.handle(self.now, answer))

    def put(self, *pods: GuardedPod) -> None:
        self.give(*[PodChanged(each.uid, each) for each in pods])
        self.settle()

    def gone(self, *pods: GuardedPod) -> None:
        self.give(*[PodChanged(each.uid, None) for each in pods])
        self.settle()

    def _take(self, outputs: list[Any]) -> None:
        self.events += [each for each in outputs if isinstance(each, PodEvent)]
        self._left += [each for each in outputs if not isinstance(each, PodEvent)]

    def _read(self, call: Read) -> Input:
        self.reads += 1
        if self.broken:
            return Wrote(call.node, "failed")
        return GotProbes(call.node, copy.deepcopy(self.objects.get(call.node)))

    def _write(self, call: Write) -> Wrote:
        self.writes += 1
        if self.broken:
            return Wrote(call.node, "failed")
        stored = self.objects.get(call.node)
        version = call.body["metadata"].get("resourceVersion")
        is_old = version != (None if stored is None else stored["metadata"]["resourceVersion"])
        if is_old or self.conflicts(call):
            return Wrote(call.node, "conflict")
        self.versions += 1
        if call.verb == "delete":
            del self.objects[call.node]
            return Wrote(call.node, "done")
        body = copy.deepcopy(call.body)
        generation = 1 if stored is None else stored["metadata"]["generation"] + 1
        body["metadata"] |= {"uid": f"u-{call.node}", "resourceVersion": str(self.versions), "generation": generation}
        self.objects[call.node] = body
        return Wrote(call.node, "done", generation)

    def names(self, node: str = "node1") -> list[str]:
        return [entry["name"] for entry in self.objects.get(node, {"spec": {"podProbes": []}})["spec"]["podProbes"]]


@pytest.fixture
def api() -> Api:
    return Api(Mapper())


def test_m1_t6_a_hundred_pods_at_once_with_a_conflict_on_every_other_write(api: Api) -> None:
    flip: defaultdict[str, int] = defaultdict(int)

    def every_other(write: Write) -> bool:
        flip[write.node] += 1
        return flip[write.node] % 2 == 1

    api.conflicts = every_other
    api.put(*[pod(f"p{number:03}") for number in range(100)])
    assert api.names() == [f"p{number:03}" for number in range(100)]
    assert api.writes <= 10
    assert api.mapper.is_idle


def test_m1_changes_during_a_write_make_one_further_write(api: Api) -> None:
    api.give(PodChanged("uid-a", pod("a")))
    for name in "bcdefgh":
        api.give(PodChanged(f"uid-{name}", pod(name)))
    api.settle()
    assert (api.writes, api.names()) == (1, list("abcdefgh"))


def test_m2_changes_that_do_not_matter_cause_no_read(api: Api) -> None:
    api.put(pod())
    reads = api.reads
    api.put(pod(phase="Pending", containers=("c1", "c2", "c3")))
    assert api.reads == reads
    api.put(pod(ip="8.8.8.8"))
    assert api.reads == reads + 1


def test_m2_m8_an_object_that_another_writer_changed_is_compared_again(api: Api) -> None:
    api.put(pod())
    api.objects["node1"]["spec"]["podProbes"] = []
    api.objects["node1"]["metadata"] |= {"generation": 7, "resourceVersion": "x"}
    api.give(ProbesChanged("node1", 7))
    api.settle()
    assert api.names() == ["pod1"]


def test_our_own_write_causes_no_further_read(api: Api) -> None:
    api.put(pod())
    reads = api.reads
    api.give(ProbesChanged("node1", 1))
    api.settle()
    assert api.reads == reads


def test_f8_an_object_that_was_deleted_by_hand_is_made_again(api: Api) -> None:
    api.put(pod())
    del api.objects["node1"]
    api.give(ProbesChanged("node1", None))
    api.settle()
    assert api.names() == ["pod1"]


def test_m2_a_resync_finds_what_no_event_said(api: Api) -> None:
    api.put(pod())
    api.objects["node1"]["spec"]["podProbes"] = []
    api.give(Resync())
    api.settle()
    assert api.names() == ["pod1"]


def test_t5_f1c_opting_out_removes_the_entry_at_once_and_in_again_brings_it_back(api: Api) -> None:
    api.put(pod())
    api.put(pod(opt_in=None))
    assert api.names() == []
    api.put(pod())
    assert api.names() == ["pod1"]


@pytest.mark.parametrize("change", [{"deleted": True}, {"phase": "Failed"}, {"phase": "Succeeded"}, {"opt_in": "no"}])
def test_m8_pods_that_are_not_probed_any_more(api: Api, change: dict[str, Any]) -> None:
    api.put(pod("other"), pod())
    api.put(pod(**change))
    assert api.names() == ["other"]


def test_the_last_pod_of_a_node_takes_the_object_along(api: Api) -> None:
    api.put(pod())
    api.gone(pod())
    assert api.objects == {}


def test_the_pod_gets_no_finalizer(api: Api) -> None:
    """3A.3 row 3: the machine has no output that writes a pod."""
    api.put(pod())
    assert {type(each).__name__ for each in api.events} == {"PodEvent"}


def test_f1b_detection_off_removes_every_probe_of_ours(api: Api) -> None:
    api.put(pod(), pod("pod2", node="node2"))
    api.give(Configured(detects=False))
    api.settle()
    assert (api.names(), api.names("node2")) == ([], [])
    api.give(Configured(detects=True))
    api.settle()
    assert (api.names(), api.names("node2")) == (["pod1"], ["pod2"])


def test_m7_after_many_conflicts_the_node_waits_and_others_go_on(api: Api) -> None:
    api.conflicts = lambda write: write.node == "node1"
    api.put(pod(), pod("pod2", node="node2"))
    assert api.names("node2") == ["pod2"]
    assert api.writes == CONFLICTS_MAX + 2
    deadline = api.mapper.deadline(api.now)
    assert deadline is not None
    assert api.now < deadline <= api.now + SECOND
    api.conflicts = lambda write: False
    api.now = deadline
    api._take(api.mapper.handle(api.now))
    api.settle()
    assert api.names() == ["pod1"]
    assert api.mapper.is_idle


def test_f2c_without_an_api_server_nothing_is_lost(api: Api) -> None:
    api.broken = True
    api.put(pod())
    for _ in range(20):
        deadline = api.mapper.deadline(api.now)
        assert deadline is not None
        api.now = deadline
        api._take(api.mapper.handle(api.now))
        api.settle()
    assert api.now > 60 * SECOND, "the delay grows"
    api.broken = False
    api.now = api.mapper.deadline(api.now) or 0
    api._take(api.mapper.handle(api.now))
    api.settle()
    assert api.names() == ["pod1"]


def test_rounds_are_bounded(api: Api) -> None:
    api.give(*[PodChanged(f"u{number}", pod(uid=f"u{number}", node=f"n{number}")) for number in range(50)])
    assert len(api._left) == ROUNDS_MAX
    api.settle()
    assert len(api.objects) == 50


def test_m13_events_are_written_once(api: Api) -> None:
    api.put(pod())
    api.give(Resync())
    api.settle()
    assert [(each.reason, each.pod.name) for each in api.events] == [("ELPProbeMapped", "pod1")]
    bad = pod("bad", context=f'[{EXEC_ENTRY},{{"name":"x","livenessProbe":{{"tcpSocket":{{"port":1}}}}}}]')
    api.put(bad)
    api.give(Resync(), Resync())
    api.settle()
    assert [each.reason for each in api.events[1:]] == ["ELPProbeMapped", "ELPUnknownContainer"]


def test_m13_bad_json_is_said_once_and_the_entry_goes(api: Api) -> None:
    api.put(pod(), pod("other"))
    api.put(pod(context="{"))
    assert api.names() == ["other"]
    assert [each.reason for each in api.events] == ["ELPProbeMapped", "ELPProbeMapped", "ELPInvalidContext"]
    assert api.mapper.deadline(api.now) is None, "nothing is tried again"


def test_what_another_context_comes_to_is_said_again(api: Api) -> None:
    for context in ("{", f"[{EXEC_ENTRY}]", "{"):
        api.put(pod(context=context))
    api.put(pod(context="{", ip="2.2.2.2"))
    assert [each.reason for each in api.events] == ["ELPInvalidContext", "ELPProbeMapped", "ELPInvalidContext"]


def test_a_virtual_node_is_skipped_with_an_event(api: Api) -> None:
    """3A.3 row 13."""
    api.give(NodeChanged("node1", GuardedNode("node1", is_virtual=True)))
    api.put(pod())
    assert api.objects == {}
    assert [each.reason for each in api.events] == ["ELPUnsupportedNode"]


def test_m9_a_stateful_pod_that_moves_to_another_node(api: Api) -> None:
    api.put(pod(uid="old"))
    api.gone(pod(uid="old"))
    api.put(pod(uid="new", node="node2"))
    assert list(api.objects) == ["node2"]


def test_nothing_is_read_for_nodes_without_pods_of_ours(api: Api) -> None:
    api.give(*[NodeChanged(f"n{number}", GuardedNode(f"n{number}")) for number in range(100)])
    api.put(pod(opt_in=None, node="n1"))
    assert api.reads == 0


def test_beside_openkruise_empty_objects_stay() -> None:
    api = Api(Mapper(MergeOptions(naming="coexist", keep_empty=True)))
    api.put(pod())
    api.gone(pod())
    assert api.objects["node1"]["spec"]["podProbes"] == []
