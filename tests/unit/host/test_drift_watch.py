"""How long starts and answers take, from the results of probes and from their histories."""

from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace
from probelet.host.drift_watch import AGAIN_NS, READ_MAX, READ_PERIOD_NS, DriftWatch
from probelet.policy.facts.snapshot import ContainerRecord, State
from probelet.spec.model.container import Container
from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.model.probe import HTTPGetAction, Probe, ProbeType

from tests.unit.beside.incidents.cluster import SECOND, Deadlines

PROBE = Probe(http_get=HTTPGetAction(port=80), timeout_seconds=1, period_seconds=10, failure_threshold=3)


def pod(image: str, **probes: Probe) -> Pod:
    container = Container(name="app", image=image, **probes)  # type: ignore[arg-type]
    return Pod(metadata=ObjectMeta(name="web-0", namespace="default"), spec=PodSpec(containers=[container]))


class Node:
    """A watch, and starts that a test makes."""

    def __init__(self) -> None:
        self.clock = Deadlines()
        self.watch = DriftWatch(self.clock, self.slowest_answers)
        self.number = 0
        self.slowest: list[tuple[str, str, ProbeType, int]] = []

    def slowest_answers(self, most: int) -> list[tuple[str, str, ProbeType, int]]:
        assert most == READ_MAX
        return self.slowest

    def start(self, made: Pod, took: float, *types: str) -> None:
        self.number += 1
        began = self.clock.ns // 1_000_000
        record = ContainerRecord(f"c://{self.number}", "app", State.RUNNING, started_at_ms=began)
        self.clock.advance(int(took * SECOND))
        for probe_type in types:
            self.watch.result(made, probe_type, "Success", record, "Deployment/web")

    @property
    def said(self) -> list[str]:
        head: Any = {}
        self.watch.tell(head)
        return list(head.get("drifts", ()))


@pytest.fixture
def node() -> Node:
    return Node()


STARTUP = {"startup_probe": replace(PROBE, failure_threshold=6), "readiness_probe": PROBE}


def test_a_slower_image_is_said_with_its_budget(node: Node) -> None:
    for number in range(10):
        node.start(pod("web:1", **STARTUP), 30 + number / 10, "startup", "readiness")
    assert node.said == []
    for number in range(10):
        node.start(pod("web:2", **STARTUP), 43 + number / 10, "startup")
        if number == 2:
            text = "default/Deployment/web app: 3 starts with image web:2, and a comparison needs 8"
            assert node.said == [text]
    assert node.said == [
        "default/Deployment/web app: the 99th percentile of starts went from 31 s to 44 s with image web:2, "
        "the budget is 50 s"
    ]
    assert b'probelet_drifts{of="starts"} 1\n' in node.watch.metrics()


def test_only_the_first_success_of_an_instance_counts(node: Node) -> None:
    made = pod("web:1", liveness_probe=PROBE, readiness_probe=PROBE)
    node.start(made, 5, "liveness")
    node.start(made, 5, "readiness", "readiness")
    [found] = node.watch._starts._known.values()
    assert (list(found.new.took), found.limit) == ([5.0], 20)


def test_what_ran_before_and_what_nothing_kills_counts_for_nothing(node: Node) -> None:
    old = ContainerRecord("c://old", "app", State.RUNNING, started_at_ms=1)
    node.watch.result(pod("web:1", **STARTUP), "startup", "Success", old)
    node.watch.result(pod("web:1", **STARTUP), "startup", "Success", None)
    node.start(pod("web:1", readiness_probe=PROBE), 5, "readiness")
    assert node.watch._starts._known == {}
    assert b'probelet_drifts{of="starts"} 0\n' in node.watch.metrics()


@dataclass
class Watched:
    """A pod as its owner has it."""

    pod: Pod
    template: str = "Deployment/web"


def test_answers_that_a_new_image_makes_slower_are_said_with_their_timeout(node: Node) -> None:
    pods = {"u1": Watched(pod("web:1", readiness_probe=PROBE))}
    node.watch.begin(pods)
    for image, took_ms in (("web:1", 300), ("web:2", 800)):
        pods["u1"] = Watched(pod(image, readiness_probe=PROBE))
        for number in range(100):
            node.slowest = [("u1", "app", "readiness", (took_ms + number % 7) * 1_000_000)]
            node.clock.advance(READ_PERIOD_NS)
    assert node.said == [
        "default/Deployment/web app: the 99th percentile of readiness answers went from 0.3 s to 0.8 s with image "
        "web:2, the timeout is 1 s"
    ]
    assert b'probelet_drifts{of="answers"} 1\n' in node.watch.metrics()


def test_answers_of_pods_and_probes_that_are_gone_count_for_nothing(node: Node) -> None:
    node.watch.begin({"u1": Watched(pod("web:1", readiness_probe=PROBE))})
    node.slowest = [("u1", "app", "liveness", SECOND), ("u1", "old", "readiness", SECOND), ("u2", "app", "liveness", 1)]
    node.clock.advance(READ_PERIOD_NS)
    assert node.watch._answers._windows == {}
    node.slowest = [("u1", "app", "readiness", SECOND)]
    node.clock.advance(READ_PERIOD_NS)
    assert len(node.watch._answers._windows) == 1


def test_a_look_at_many_histories_goes_on_after_a_moment(node: Node) -> None:
    node.watch.begin({"u1": Watched(pod("web:1", readiness_probe=PROBE))})
    looks: list[int] = []

    def slowest(most: int) -> list[tuple[str, str, ProbeType, int]]:
        looks.append(node.clock.ns)
        return [("u1", "app", "readiness", SECOND)] * (most if len(looks) < 3 else most - 1)

    node.watch._slowest_answers = slowest
    for wait_ns in (READ_PERIOD_NS, AGAIN_NS, AGAIN_NS, READ_PERIOD_NS):
        node.clock.advance(wait_ns - 1)
        before = len(looks)
        node.clock.advance(1)
        assert len(looks) == before + 1
