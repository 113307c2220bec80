"""Random scenarios: pods, and calls into the prober in an order that no kubelet would use."""

from random import Random
from typing import Any

from tests.kubelet.recorder import events
from tests.kubelet.recorder.pods import PERIOD_MAX, Made, pod_of

CALLS = {
    "status": 6,
    "sync": 6,
    "add_pod": 2,
    "remove_pod": 0.6,
    "stop_liveness_and_startup": 0.5,
    "cleanup_pods": 0.4,
    "update_pod_status": 3,
    "set_deletion_timestamp": 0.3,
    "no_status": 0.2,
}
"""The weight of each call in the draw."""

EVENTS_SHARE = 0.6
"""The share of scenarios whose inputs follow from events."""


def scenario_of(number: int) -> Made:
    """The scenario with this number, in the schema of a recording. It has either events or a trace with only inputs."""
    dice = Random(number)
    name = f"generated_{number}"
    if dice.random() < EVENTS_SHARE:
        return events.scenario_of(dice, name)
    warmup_ms = dice.choice([3_600_000, 3_600_000, 30_000, 2_000])
    scripts: dict[str, list[Made]] = {}
    [size] = dice.choices([1, 2, 3], [6, 3, 1])
    pods = [pod_of(dice, index, PERIOD_MAX[warmup_ms], scripts) for index in range(size)]
    life = Life(dice, pods, warmup_ms, dice.choice([12_000, 26_000, 60_000]))
    life.play()
    return {
        "schema": "kubelet-prober-trace/1",
        "scenario": {
            "name": name,
            "warmup_ms": warmup_ms,
            "duration_ms": life.duration_ms,
            "pods": pods,
            "scripts": scripts,
        },
        "trace": {"inputs": life.inputs},
    }


class Life:
    """The changes of the pods, and the calls that report them to the prober."""

    def __init__(self, dice: Random, pods: list[Made], warmup_ms: int, duration_ms: int) -> None:
        self.dice = dice
        self.warmup_ms = warmup_ms
        self.duration_ms = duration_ms
        self.names = [pod["name"] for pod in pods]
        self.deleting = {pod["name"] for pod in pods if "deletion_timestamp_ms" in pod}
        self.phase = dict.fromkeys(self.names, "Running")
        self.lists = {
            pod["name"]: {
                "containers": {each["name"]: Container() for each in pod["spec"]["containers"]},
                "init_containers": {each["name"]: Container() for each in pod["spec"].get("initContainers", [])},
            }
            for pod in pods
        }
        self.now = dice.randint(0, 2_500)
        self.batch = 0
        self.inputs: list[Made] = []

    def play(self) -> None:
        while self.now < self.duration_ms:
            self.batch += 1
            pod = self.dice.choice(self.names)
            for _ in range(self.dice.choice([0, 1, 1, 2, 3])):
                self._change(pod)
            # The calls of a batch are made before any worker reacts.
            [size] = self.dice.choices([1, 2, 3], [7, 2, 1])
            for call in self.dice.choices(list(CALLS), list(CALLS.values()), k=size):
                self._call(call, pod)
            pauses = [0, self.dice.randint(1, 60), *[self.dice.randint(60, 3_000)] * 2, 1_000, 2_000]
            self.now += self.dice.choice(pauses)

    def _call(self, call: str, pod: str) -> None:
        if call == "sync":
            for each in ("update_pod_status", "status", "add_pod"):
                self._call(each, pod)
        elif call in ("status", "update_pod_status"):
            self._input(call, pod=pod, phase=self.phase[pod], **self._lists(pod))
        elif call == "add_pod":
            self._input(call, pod=pod, **({"deleting": True} if pod in self.deleting else {}))
        elif call == "cleanup_pods":
            self._input(call, desired=[name for name in self.names if self.dice.random() < 0.6])
        elif call == "set_deletion_timestamp":
            # Delete a pod once only: recordings do not say which object a second deletion would change.
            if pod not in self.deleting:
                self.deleting.add(pod)
                self._input(call, pod=pod, in_place=self.dice.random() < 0.6)
        else:
            self._input(call, pod=pod)

    def _input(self, call: str, **rest: Any) -> None:
        self.inputs.append({"t_ms": self.now, "batch": self.batch, "call": call, "cause": "op", **rest})

    def _lists(self, pod: str) -> Made:
        lists = {
            key: [container.line(self.dice, name) for name, container in listed.items() if container.is_listed]
            for key, listed in self.lists[pod].items()
        }
        return {key: lines for key, lines in lists.items() if lines}

    def _change(self, pod: str) -> None:
        if self.dice.random() < 0.03:
            self.phase[pod] = self.dice.choice(["Running", "Pending", "Failed", "Succeeded", "Unknown"])
            return
        has_init = bool(self.lists[pod]["init_containers"])
        listed = self.lists[pod]["init_containers" if has_init and self.dice.random() < 0.3 else "containers"]
        name = self.dice.choice(list(listed))
        listed[name].change(self.dice, f"{pod}-{name}", self.now, self.warmup_ms)


class Container:
    """The status of one container."""

    def __init__(self) -> None:
        self.is_listed = True
        self.state = "waiting"
        self.generation = 0
        self.id: str | None = None
        self.started: bool | None = None
        self.started_at_ms = 0
        self.exit_code = 0

    def change(self, dice: Random, name: str, now: int, warmup_ms: int) -> None:
        [what] = dice.choices(["start", "end", "wait", "started", "vanish", "odd"], [8, 3, 1.5, 5, 0.5, 0.3])
        if what in ("start", "odd"):
            self.generation += 1
            self.id = f"containerd://{name}-{self.generation}"
            if what == "odd":
                self.id = dice.choice(["noscheme", "a://b://c", "containerd://"])
            # Now, in the future, or before the prober: by less than its ten seconds of grace, by exactly that, by more.
            offset = dice.choice([0, 0, 0, -1_000, 3_000, *(-warmup_ms - before for before in (8_000, 10_000, 15_000))])
            self.is_listed, self.state = True, "running"
            self.started_at_ms = (now + offset) // 1_000 * 1_000
            self.started = dice.choice([None, True, True, False])
        elif what == "end" and self.id is not None:
            self.is_listed, self.state, self.started = True, "terminated", dice.choice([None, False])
            self.exit_code = dice.choice([0, 1, 42, 137])
        elif what == "wait":
            self.is_listed, self.state, self.started = True, "waiting", None
            self.id = dice.choice([self.id, None])
        elif what == "started":
            self.started = dice.choice([True, True, False, None])
        elif what == "vanish":
            self.is_listed = False

    def line(self, dice: Random, name: str) -> Made:
        started = dice.choice([None, True, False]) if dice.random() < 0.3 else self.started
        line: Made = {"name": name, "state": self.state, "ready": dice.random() < 0.3, "started": started}
        if self.id is not None:
            line["id"] = self.id
        if self.state == "running":
            line["started_at_ms"] = self.started_at_ms
        if self.state == "terminated":
            line["exit_code"] = self.exit_code
        return line
