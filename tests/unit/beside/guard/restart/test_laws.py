"""Random lives of a cluster: whatever happens, the limits hold, every decision has a reason, and nobody is forgotten.

``GUARD_CASES=1000`` plays as many lives. A failure names its seed.
"""

import os
import random
from bisect import bisect_right
from typing import Any

import pytest
from probelet.beside.guard.objects.moment import nanoseconds
from probelet.beside.guard.restart.protocol.outputs import Create, Decision, Reserve
from probelet.beside.guard.restart.protocol.reason import REASONS

from tests.unit.beside.guard.restart.rig import SECOND, START_WALL, Rig, TestPod

CASES = int(os.environ.get("GUARD_CASES", "16"))
SECONDS = 400
"""The length of a life; then everything heals that can."""
RESERVATION_NS = 10 * SECOND
"""How long OpenKruise keeps a reservation."""


class Life:
    """A cluster with two workloads of which one has a budget, nodes of any speed, and much that goes wrong."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.rate = self.random.choice([6, 20, 60, 600])
        self.burst = self.random.choice([1, 3, 10])
        self.limit = self.random.choice(["20%", "1", "3", "100%"])
        self.room = self.random.choice([0, 1, 2, 4])
        self.lag = self.random.choice([0, 1, 3])
        self.kind = self.random.choice(["pdb", "pub"])
        self.config = {
            "rate.tokensPerMinute": str(self.rate),
            "rate.burst": str(self.burst),
            "workload.maxInFlight": self.limit,
            "breaker.action": self.random.choice(["off", "serialize"]),
            "queue.perWorkload": self.random.choice(["2", "10", "100"]),
            "queue.random": self.random.choice(["true", "false"]),
            "backoff.max": "20s",
        }
        self.rig = Rig(self.config, restart_seconds=self.random.choice([1, 10, 45]), seed=seed)
        count = self.random.choice([4, 12, 25])
        self.pods = self.rig.pods_of("web", count, per_node=2) + self.rig.pods_of("api", 5, per_node=2)
        self.count = count
        self.stopped_ready: set[str] = set()
        """The pods that were ready when they were stopped."""
        self.shown: tuple[int, ...] = ()
        getattr(self.rig, self.kind)(status=self.status(0), app="web")
        self.rig.sync()
        self.rig.heartbeats(SECONDS * 10)

    def status(self, down: int) -> dict[str, Any]:
        allowed = max(0, self.room - down)
        desired = self.count - self.room
        if self.kind == "pdb":
            healthy = {"currentHealthy": self.count - down, "desiredHealthy": desired, "expectedPods": self.count}
            return {"disruptionsAllowed": allowed, **healthy}
        available = {"desiredAvailable": desired, "currentAvailable": self.count - down, "totalReplicas": self.count}
        return {"unavailableAllowed": allowed, **available}

    def down(self) -> set[str]:
        return {pod.name for pod in self.pods if pod.workload == "web" and pod.unready}

    def play(self, seconds: int, *, trouble: bool) -> None:
        for _ in range(seconds):
            if trouble:
                self.something()
            self.rig.run(1)
            self.check()
            self.control()

    def something(self) -> None:
        chance, rig = self.random.random(), self.rig
        pod = self.random.choice(self.pods)
        if chance < 0.15:
            rig.fail(pod)
        elif chance < 0.2:
            rig.fail(*[each for each in self.pods if each.workload == pod.workload])
        elif chance < 0.23 and not pod.unready:
            self.hang(pod)
        elif chance < 0.24:
            self.hang(*[each for each in self.pods if each.workload == pod.workload and not each.unready])
        elif chance < 0.32 and not pod.unready and not pod.is_hung:
            rig.heal(pod)
        elif chance < 0.34:
            rig.answer = {Reserve: self.random.choice(["done", "conflict", "failed"])}
        elif chance < 0.36:
            rig.answer = {**rig.answer, Create: self.random.choice(["done", "done", "refused", "failed"])}
        elif chance < 0.37:
            rig.sync(False)
            rig.run(self.random.randrange(5))
            rig.sync()

    def hang(self, *pods: TestPod) -> None:
        """These pods serve nobody any more, and their probes fail."""
        for pod in pods:
            pod.is_hung = True
            self.rig.show(pod)
        self.rig.fail(*pods)

    def control(self) -> None:
        """The budget's controller looks at the pods, some seconds late."""
        [(key, budget)] = self.rig.budgets.items()
        down = self.down() | {pod.name for pod in self.pods if pod.workload == "web" and pod.is_hung}
        now = START_WALL + self.rig.now
        written: dict[str, str] = budget["status"].get("unavailablePods") or {}
        reserved = {
            name: at
            for name, at in written.items()
            if name not in down and now - (nanoseconds(at) or 0) <= RESERVATION_NS
        }
        taken = len(down | set(reserved))
        if self.shown != (taken, len(reserved)):
            self.shown = (taken, len(reserved))
            fresh = {"observedGeneration": 1, **self.status(taken), "unavailablePods": reserved}

            def show() -> None:
                budget["status"] = fresh
                self.rig.show_budget(key)

            self.rig.later(self.lag * SECOND, show)

    def check(self) -> None:
        down = self.down()
        self.stopped_ready &= down
        self.stopped_ready |= {name for name in down if not self.rig.pods[name].is_hung}
        assert len(self.stopped_ready) <= self.room, "the budget was overdrawn"
        assert len(down) <= max(1, self.room), "too many pods that are not ready were restarted at a time"
        for workload, count in self.rig.guard.gauges(self.rig.now).in_flight.items():
            replicas = self.count if workload.name == "web" else 5
            most = {"20%": -(-replicas // 5), "100%": replicas}.get(self.limit) or int(self.limit)
            assert count <= most


@pytest.mark.parametrize("seed", range(CASES))
def test_limits_hold_and_nobody_is_forgotten(seed: int) -> None:
    life = Life(seed)
    life.play(SECONDS, trouble=True)
    check_rate(life)
    check_reasons(life)
    # Nothing goes wrong any more, and the probes that fail stay so until their container was restarted.
    life.rig.answer = {}
    failed = [pod for pod in life.pods if pod.probes["app"].state == "Failed"]
    before = {pod.name: pod.restarts.get("app", 0) for pod in failed}
    hung = {pod.name for pod in failed if pod.is_hung}
    life.play(1500, trouble=False)
    for pod in failed:
        is_held = pod.workload == "web" and life.room == 0 and pod.name not in hung
        assert pod.restarts.get("app", 0) > before[pod.name] or is_held, f"{pod.name} was forgotten"


def check_rate(life: Life) -> None:
    """In any span of time there are at most the burst and what was refilled meanwhile."""
    moments = [at for at, output in life.rig.outputs if isinstance(output, Create)]
    refill_ns = 60 * SECOND // life.rate
    for index, start in enumerate(moments):
        for span in (SECOND, 10 * SECOND, 60 * SECOND, 300 * SECOND):
            count = bisect_right(moments, start + span) - index
            assert count <= life.burst + span // refill_ns + 1


def check_reasons(life: Life) -> None:
    decisions: list[Decision] = life.rig.of(Decision)
    assert all(each.reason in REASONS and each.message and "\n" not in each.message for each in decisions)
    restarting = sum(each.reason == "Restarting" for each in decisions)
    assert restarting == len(life.rig.creates)
    for pod in life.pods:
        if pod.probes["app"].state == "Failed":
            assert life.rig.reasons(pod.name), "a failed probe without a decision"
    in_one_place(life)


def in_one_place(life: Life) -> None:
    guard = life.rig.guard
    pending = guard._launcher.pending
    for pod in life.pods:
        if pod.probes["app"].state == "Failed":
            places = [
                pod.uid in guard._queue,
                pod.uid in guard._waiting._at,
                pending is not None and pending.uid == pod.uid,
            ]
            assert sum(places) == 1, (pod.name, places)


@pytest.mark.parametrize("seed", range(5))
def test_the_same_inputs_give_the_same_outputs(seed: int) -> None:
    def outputs() -> list[Any]:
        life = Life(seed)
        life.play(100, trouble=True)
        return life.rig.outputs

    assert outputs() == outputs()


def test_another_seed_gives_another_order() -> None:
    def order(seed: int) -> list[str]:
        made = Rig({"rate.tokensPerMinute": "60", "breaker.action": "off", "workload.maxInFlight": "100%"}, seed=seed)
        pods: list[TestPod] = made.pods_of("web", 10)
        made.sync()
        made.fail(*pods)
        made.run(30)
        return made.created_pods

    assert order(1) != order(2)
