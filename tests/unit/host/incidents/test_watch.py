"""What a process keeps around its detector of incidents, in virtual time."""

from dataclasses import dataclass, field

import pytest
from probelet.host.batches import BatchReader
from probelet.host.incidents.events import IncidentEvents
from probelet.host.incidents.watch import CHANGES_MAX, ENDED_MAX, IncidentWatch
from probelet.host.recorder import Recorder
from probelet.host.timers import Timers
from probelet.policy.incidents import Output, Subject, Turn

from tests.unit.host.test_timers import Wheel

SECOND_MS = 1_000
START_MS = 1_700_000_000_000


class Clock(Wheel):
    """The wheel with a wall clock that can be set."""

    def __init__(self) -> None:
        super().__init__()
        self.set_ms = START_MS

    def wall_ms(self) -> int:
        return self.set_ms + self.now_ns // 1_000_000


@dataclass
class Node:
    """A watch whose time passes on request. Each pod is the only one of its workload, and asks ``db:5432``."""

    clock: Clock = field(default_factory=Clock)
    said: list[Output] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.timers = Timers(self.clock)
        self.watch = IncidentWatch(self.timers, "n1")
        self.recorder = Recorder(self.clock.now, self.clock.wall_ms)
        self.batches = BatchReader(Engine(), self.timers)  # type: ignore[arg-type]
        self.watch.listeners.append(self.said.append)

    def begin(self) -> "Node":
        self.watch.begin(self.batches)
        return self

    def add(self, name: str, *targets: str, revision: str = "", **changes: object) -> None:
        given: dict[str, object] = {"failure_threshold": 3, "workload": f"Deployment/{name}", **changes}
        subject = Subject(name, "shop", name, "app", "readiness", "n1", targets=targets, **given)  # type: ignore[arg-type]
        self.watch.know([subject], revision)
        self.turn(name)

    def turn(self, *names: str, cause: str = "ok") -> None:
        at = self.clock.wall_ms()
        self.watch.take_turns([Turn(name, "app", "readiness", at, cause == "ok", cause, 0, 0, "") for name in names])

    def fail_together(self) -> None:
        """Two bad attempts of each pod that asks the database, a period after each other."""
        self.turn(*NAMES, cause="timeout")
        self.wait(10)
        self.turn(*NAMES, cause="timeout")
        self.wait(1)

    def wait(self, seconds: float) -> None:
        for _ in range(round(seconds * 10)):
            self.clock.now_ns += 100_000_000
            for token in self.clock.wheel.fire(self.clock.now_ns):
                self.timers.fire(token)


class Engine:
    def watch_turns(self) -> None:
        pass


NAMES = ("cart", "orders", "web")


@pytest.fixture
def node() -> Node:
    made = Node().begin()
    made.watch.listeners.append(IncidentEvents(made.watch, made.recorder.record))
    for name in NAMES:
        made.add(name, "db:5432")
    for name in ("mail", "search", "stock"):
        made.add(name)
    made.wait(60)
    return made


def test_an_incident_begins_and_ends_by_the_timer_alone(node: Node) -> None:
    node.turn(*NAMES, cause="timeout")
    assert node.watch.open == []
    node.wait(10)
    node.turn(*NAMES, cause="timeout")
    node.wait(1)
    [found] = node.watch.document()["open"]
    assert (found["kind"], found["shared"], found["value"]) == ("shared", "target", "db:5432")
    assert found["counts"]["workloads"] == 3
    node.turn(*NAMES)
    node.wait(11)
    document = node.watch.document()
    assert document["open"] == []
    assert [each["id"] for each in document["ended"]] == [found["id"]]
    assert document["ended"][0]["ended"] is not None


def test_events_are_about_the_same_pod_at_the_beginning_and_at_the_end(node: Node) -> None:
    node.fail_together()
    node.turn(*NAMES)
    node.wait(11)
    began, ended = node.recorder.events()
    assert (began["type"], began["reason"]) == ("Warning", "IncidentBegan")
    assert (ended["type"], ended["reason"]) == ("Normal", "IncidentEnded")
    assert began["object"] == ended["object"] == "shop/cart"
    assert "shared target db:5432" in began["message"]


def test_a_follower_gets_each_change_once(node: Node) -> None:
    node.fail_together()
    first = node.watch.changes(0)
    assert [each["change"] for each in first] == ["began"]
    assert node.watch.changes(node.watch.last_change) == []
    node.turn(*NAMES)
    node.wait(11)
    assert [each["change"] for each in node.watch.changes(first[-1]["seq"])][-1] == "ended"


def test_metrics_count_what_began_and_what_is_open(node: Node) -> None:
    assert b'probelet_incident_open{kind="shared"} 0' in node.watch.metrics()
    node.fail_together()
    page = node.watch.metrics()
    assert b'probelet_incidents_total{kind="shared"} 1' in page
    assert b'probelet_incident_open{kind="shared"} 1' in page
    assert b'probelet_incident_open{kind="container"} 0' in page


def test_nothing_is_noticed_before_the_beginning() -> None:
    node = Node()
    for name in NAMES:
        node.add(name, "db:5432")
    node.turn(*NAMES, cause="timeout")
    node.watch.killed("cart", "app")
    node.watch.exited("cart", "app")
    node.watch.forget("cart")
    node.wait(30)
    assert (node.said, node.watch.open, node.watch.metrics()) == ([], [], b"")


def test_a_probe_with_a_high_threshold_is_one_containers_trouble_after_the_turns_that_the_engine_tells(
    node: Node,
) -> None:
    node.add("batch", failure_threshold=30)
    for _ in range(10):
        node.turn("batch", cause="status")
        node.wait(10)
    [found] = node.watch.open
    assert (found.kind, found.value) == ("container", "shop/batch/app")


def test_a_pod_that_ends_is_no_trouble(node: Node) -> None:
    node.watch.forget("web")
    node.watch.exited("web", "app")
    node.turn("web", cause="refused")
    node.wait(30)
    assert node.said == []
    assert node.watch.uid_of("shop/web") == ""


def test_two_exits_of_a_container_are_an_incident(node: Node) -> None:
    node.watch.exited("web", "app")
    node.wait(20)
    node.watch.exited("web", "app")
    node.wait(20)
    assert [each.kind for each in node.watch.open] == ["container"]


def test_the_first_pod_of_another_version_is_a_rollout(node: Node) -> None:
    for number in range(4):
        node.add(f"api-{number}", revision="old", workload="Deployment/api", image="api:1")
    node.wait(60)
    for number in range(4, 8):
        node.add(f"api-{number}", revision="new", workload="Deployment/api", image="api:2")
    node.wait(20)
    node.turn(*(f"api-{number}" for number in range(4, 8)), cause="status")
    node.wait(20)
    assert [(each.kind, each.shared) for each in node.watch.open] == [("workload", "rollout")]


@pytest.mark.parametrize("jump_ms", [3_600_000, -3_600_000])
def test_a_clock_that_is_set_ends_nothing(node: Node, jump_ms: int) -> None:
    node.fail_together()
    node.clock.set_ms += jump_ms
    node.wait(11)
    assert [each.kind for each in node.watch.open] == ["shared"]
    node.turn(*NAMES)
    node.wait(30)
    assert node.watch.open == []


def test_what_is_kept_is_bounded(node: Node) -> None:
    for _ in range(ENDED_MAX + 20):
        node.turn("web", cause="status")
        node.turn("web", cause="status")
        node.turn("web", cause="status")
        node.wait(2)
        node.turn("web")
        node.wait(11)
    assert len(node.watch.document()["ended"]) == ENDED_MAX
    assert len(node.watch.changes(0)) <= CHANGES_MAX
