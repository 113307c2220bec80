"""maxContainerAge in virtual time: which containers are restarted, when, and never too many."""

from dataclasses import dataclass, field
from itertools import pairwise

import msgspec
from probelet._rust import TokenBucket
from probelet.policy.node.container_age import (
    AgeRestart,
    AgingContainer,
    AgingPod,
    ContainerAge,
    allowed_ns,
    group_of,
    reached_age,
)
from probelet.spec.model.pod import Pod

SECOND = 1_000_000_000
HOUR = 3600 * SECOND
DAY = 24 * HOUR
WALL_MS = 1_700_000_000_000


@dataclass
class ModelPod:
    """A pod with one container. After a restart the container is down, and then not ready, as ``AgingNode`` sets it."""

    uid: str
    group: str
    started_ns: int = 0
    count: int = 0
    unready_until_ns: int = 0
    healthy: bool = True
    restarts: list[int] = field(default_factory=list)

    def shown(self, now: int) -> AgingPod:
        container = AgingContainer("app", f"t://{self.uid}-{self.count}", WALL_MS + self.started_ns // 1_000_000)
        running = (container,) if now >= self.started_ns else ()
        return AgingPod(self.uid, self.group, running, lambda: self.healthy and now >= self.unready_until_ns)


class AgingNode:
    def __init__(self, *pods: ModelPod, age: int = DAY, burst: int = 100, refill: int = SECOND, down: int = 30) -> None:
        self.policy = ContainerAge(age, TokenBucket(burst=burst, interval_ns=refill))
        self.pods = {pod.uid: pod for pod in pods}
        self.now = 0
        self.down_ns = down * SECOND
        self.log: list[tuple[int, AgeRestart]] = []

    def look(self) -> list[AgeRestart]:
        shown = [pod.shown(self.now) for pod in self.pods.values()]
        restarts = self.policy.decide(self.now, WALL_MS + self.now // 1_000_000, shown)
        for restart in restarts:
            pod = self.pods[restart.uid]
            pod.restarts.append(self.now)
            pod.count += 1
            pod.started_ns = self.now + self.down_ns // 2
            pod.unready_until_ns = self.now + self.down_ns
            self.log.append((self.now, restart))
        return restarts

    def run_until(self, ns: int, step: int = 10 * SECOND) -> None:
        while self.now < ns:
            self.now += step
            self.look()


def test_every_container_is_restarted_before_its_age_and_never_in_its_first_three_quarters() -> None:
    node = AgingNode(*(ModelPod(f"u{number}", f"g{number}") for number in range(100)))
    node.run_until(DAY, 120 * SECOND)
    assert len(node.log) == 100
    ages = [restart.age_ns for _, restart in node.log]
    assert min(ages) >= DAY * 3 // 4
    assert max(ages) <= DAY + 120 * SECOND


def test_restarts_of_one_rollout_spread_over_the_last_quarter_of_the_age() -> None:
    node = AgingNode(*(ModelPod(f"u{number}", f"g{number}") for number in range(120)))
    node.run_until(DAY, 120 * SECOND)
    by_hour = [sum(1 for at, _ in node.log if at // HOUR == hour) for hour in range(18, 24)]
    assert sum(by_hour) >= 115
    assert all(8 <= count <= 36 for count in by_hour), by_hour


def test_each_container_has_its_own_age_limit_which_never_changes() -> None:
    assert allowed_ns(DAY, "u", "a") == allowed_ns(DAY, "u", "a")
    assert len({allowed_ns(DAY, uid, name) for uid in ("u", "v") for name in ("a", "b")}) == 4
    assert all(DAY * 3 // 4 < allowed_ns(DAY, f"u{n}", "a") <= DAY for n in range(1000))


def test_pods_of_one_group_restart_one_after_another_once_the_previous_pod_is_ready() -> None:
    pods = [ModelPod(f"u{number}", "g", started_ns=-2 * DAY) for number in range(4)]
    node = AgingNode(*pods)
    node.run_until(300 * SECOND)
    times = sorted(at for at, _ in node.log)
    assert len(times) == 4
    assert all(later - earlier >= node.down_ns for earlier, later in pairwise(times))


def test_two_groups_restart_independently() -> None:
    node = AgingNode(ModelPod("u1", "g", started_ns=-2 * DAY), ModelPod("u2", "h", started_ns=-2 * DAY))
    assert {restart.uid for restart in node.look()} == {"u1", "u2"}


def test_a_group_with_an_unready_pod_is_not_restarted() -> None:
    ill = ModelPod("u2", "g", healthy=False)
    node = AgingNode(ModelPod("u1", "g", started_ns=-2 * DAY), ill)
    node.run_until(HOUR)
    assert node.log == []
    assert (node.policy.waiting_for_group, node.policy.waiting_for_budget) == (1, 0)
    ill.healthy = True
    assert len(node.look()) == 1


def test_a_container_that_stays_unready_stops_the_restarts_of_its_group() -> None:
    pods = [ModelPod(f"u{number}", "g", started_ns=-2 * DAY) for number in range(3)]
    node = AgingNode(*pods)
    [first] = node.look()
    node.pods[first.uid].healthy = False
    node.run_until(HOUR)
    assert len(node.log) == 1
    del node.pods[first.uid]
    assert len(node.look()) == 1, "a removed pod does not hold up its group"


def test_the_group_waits_while_the_old_instance_is_still_running_and_ready() -> None:
    pods = [ModelPod("u1", "g", started_ns=-2 * DAY), ModelPod("u2", "g", started_ns=-2 * DAY)]
    shown = [pod.shown(0) for pod in pods]
    policy = ContainerAge(DAY, TokenBucket(burst=9, interval_ns=SECOND))
    assert len(policy.decide(0, WALL_MS, shown)) == 1
    for now in range(SECOND, 60 * SECOND, SECOND):
        assert policy.decide(now, WALL_MS, shown) == [], "its preStop hook takes a minute"


def test_the_budget_restarts_the_oldest_containers_first() -> None:
    pods = [ModelPod(f"u{number}", f"g{number}", started_ns=-(2 + number) * DAY) for number in range(5)]
    node = AgingNode(*pods, burst=2, refill=60 * SECOND)
    assert [restart.uid for restart in node.look()] == ["u4", "u3"]
    assert node.policy.waiting_for_budget == 3
    node.run_until(179 * SECOND, SECOND)
    assert [restart.uid for _, restart in node.log] == ["u4", "u3", "u2", "u1"]
    assert [at // SECOND for at, _ in node.log] == [0, 0, 60, 120]


def test_a_pod_restarts_one_container_at_a_time() -> None:
    running = tuple(AgingContainer(name, f"t://{name}", WALL_MS - 2 * 86_400_000) for name in ("a", "b"))
    policy = ContainerAge(DAY, TokenBucket(burst=9, interval_ns=SECOND))
    assert len(policy.decide(0, WALL_MS, [AgingPod("u", "g", running, lambda: True)])) == 1


def test_a_jump_of_the_wall_clock_ages_no_container() -> None:
    pod = ModelPod("u", "g")
    policy = ContainerAge(DAY, TokenBucket(burst=9, interval_ns=SECOND))
    assert policy.decide(0, WALL_MS, [pod.shown(0)]) == []
    assert policy.decide(HOUR, WALL_MS + 10 * 365 * 86_400_000, [pod.shown(HOUR)]) == []
    assert len(policy.decide(DAY, WALL_MS, [pod.shown(DAY)])) == 1


def test_a_container_restarts_at_the_very_moment_at_which_it_reaches_its_age() -> None:
    pod, due = ModelPod("u", "g"), allowed_ns(DAY, "u", "app")
    policy = ContainerAge(DAY, TokenBucket(burst=9, interval_ns=SECOND))
    assert policy.decide(0, WALL_MS, [pod.shown(0)]) == []
    assert policy.decide(due - 1, WALL_MS, [pod.shown(due - 1)]) == []
    assert len(policy.decide(due, WALL_MS, [pod.shown(due)])) == 1


def test_a_start_in_the_future_counts_as_now() -> None:
    pod = ModelPod("u", "g", started_ns=-1)
    policy = ContainerAge(DAY, TokenBucket(burst=9, interval_ns=SECOND))
    assert policy.decide(0, 0, [pod.shown(0)]) == []
    assert len(policy.decide(DAY, 0, [pod.shown(DAY)])) == 1


def make(**metadata: object) -> Pod:
    body = {"metadata": {"name": "p", "namespace": "ns", **metadata}, "spec": {"containers": []}}
    return msgspec.convert(body, Pod)


def test_a_group_is_the_controller_else_namespace_and_labels() -> None:
    def owned(uid: str, *, controller: bool = True) -> Pod:
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": uid, "controller": controller}
        return make(ownerReferences=[owner], labels={"app": uid})

    assert group_of(owned("r1")) == group_of(owned("r1"))
    assert group_of(owned("r1")) != group_of(owned("r2"))
    assert group_of(owned("r1")) != group_of(make(labels={"app": "r1"}))
    assert group_of(owned("r1", controller=False)) == group_of(make(labels={"app": "r1"}))
    assert group_of(make(labels={"a": "1", "b": "2"})) == group_of(make(labels={"b": "2", "a": "1"}))
    assert group_of(make(labels={"a": "1"})) != group_of(make(labels={"a": "1"}, namespace="other"))


def test_the_message_names_the_container_its_age_and_the_limit() -> None:
    message = reached_age("app", 19 * HOUR + 5 * SECOND + 123, DAY)
    assert message == "Container app has run for 19h0m5s (maxContainerAge 24h0m0s)"
