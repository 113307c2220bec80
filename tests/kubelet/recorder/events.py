"""Random scenarios with events: the kubelet's glue turns them into inputs of the prober."""

from random import Random

from tests.kubelet.recorder.pods import PERIOD_MAX, Made, pod_of

OPS = {
    "statuses": {
        "status": 6,
        "add_pod": 2,
        "update_pod_status": 2,
        "sync": 0.7,
        "remove_pod": 0.4,
        "stop_liveness_and_startup": 0.3,
        "cleanup_pods": 0.3,
        "sync_terminating": 0.2,
        "set_deletion_timestamp": 0.3,
        "remove_status": 0.2,
    },
    "syncs": {
        "runtime": 7,
        "sync": 2,
        "update_pod_status": 2,
        "add_pod": 0.5,
        "status": 0.5,
        "remove_pod": 0.4,
        "stop_liveness_and_startup": 0.4,
        "cleanup_pods": 0.3,
        "sync_terminating": 0.3,
        "set_deletion_timestamp": 0.3,
        "remove_status": 0.1,
    },
    "kills": {
        "runtime": 6,
        "sync": 2,
        "update_pod_status": 2,
        "add_pod": 0.5,
        "remove_pod": 0.4,
        "stop_liveness_and_startup": 0.4,
        "cleanup_pods": 0.3,
        "sync_terminating": 0.3,
        "set_deletion_timestamp": 0.3,
    },
}
"""The weight of each operation in the draw: without syncs, with syncs, and with kills and restarts too."""


def scenario_of(dice: Random, name: str) -> Made:
    """A scenario whose inputs follow from its events."""
    warmup_ms = dice.choice([3_600_000, 3_600_000, 3_600_000, 30_000, 2_000])
    scripts: dict[str, list[Made]] = {}
    [size] = dice.choices([1, 2, 3], [5, 4, 1])
    pods = [pod_of(dice, index, PERIOD_MAX[warmup_ms], scripts) for index in range(size)]
    kind = dice.choice(list(OPS))
    plot = Plot(dice, pods, kind, dice.choice([12_000, 26_000, 40_000]))
    return {
        "schema": "kubelet-prober-trace/1",
        "scenario": {
            "name": name,
            "warmup_ms": warmup_ms,
            # The recorder goes on to the last event.
            "duration_ms": plot.duration_ms,
            "kubelet_glue": _glue(dice, kind),
            "pods": pods,
            "scripts": scripts,
            "events": plot.events(),
        },
    }


def _glue(dice: Random, kind: str) -> Made:
    glue: Made = {"startup": True, "readiness": True, "sync": kind != "statuses"}
    if kind != "statuses":
        glue["sync_delay_ms"] = dice.choice([20, 20, dice.randint(1, 50)])
    if kind == "kills":
        glue["kill_ms"] = dice.choice([dice.randint(50, 400), dice.randint(400, 3_000)])
        glue["restart_ms"] = dice.choice([dice.randint(1_000, 2_000), dice.randint(1, 4_000), 1_000])
    return glue


class Plot:
    """The events of a scenario."""

    def __init__(self, dice: Random, pods: list[Made], kind: str, duration_ms: int) -> None:
        self.dice = dice
        self.kind = kind
        self.duration_ms = duration_ms
        self.names = {
            pod["name"]: [each["name"] for each in pod["spec"]["containers"] + pod["spec"].get("initContainers", [])]
            for pod in pods
        }
        self.ids: dict[str, int] = {}
        self.deleting = {pod["name"] for pod in pods if "deletion_timestamp_ms" in pod}
        self.now = dice.randint(0, 2_500)

    def events(self) -> list[Made]:
        events = [event for pod in self.names for event in self._beginning(pod)]
        last = self.duration_ms + self.dice.choice([0, 0, 3_000])
        while self.now < last:
            event = self._event(self.dice.choice(list(self.names)))
            events.append({"t_ms": self.now, **event})
            if self.dice.random() < 0.1:
                events[-1]["no_wait"] = True
            else:
                self.now += self._pause()
        return events

    def _beginning(self, pod: str) -> list[Made]:
        """Most pods begin with all their containers running, some with a pod that has no status."""
        if self.dice.random() < 0.3:
            return [{"t_ms": self.now, "op": "add_pod", "pod": pod}] if self.dice.random() < 0.5 else []
        events: list[Made] = []
        if self.kind != "statuses":
            events.append({"t_ms": self.now, "op": "sync", "pod": pod})
            self.now += self._pause()
        running = {name: self._running(pod, name) for name in self.names[pod] if self.dice.random() < 0.85}
        op = {"op": "status"} if self.kind == "statuses" else {"op": "runtime", "sync": True}
        events.append({"t_ms": self.now, **op, "pod": pod, "containers": running})
        if self.kind == "statuses":
            events.append({"t_ms": self.now, "op": "add_pod", "pod": pod})
        self.now += self._pause()
        return events

    def _pause(self) -> int:
        return self.dice.choice([0, self.dice.randint(1, 60), *[self.dice.randint(60, 3_000)] * 3, 1_000, 2_000])

    def _event(self, pod: str) -> Made:
        ops = OPS[self.kind]
        [op] = self.dice.choices(list(ops), list(ops.values()))
        event: Made = {"op": op, "pod": pod}
        if op == "cleanup_pods":
            return {"op": op, "desired": [name for name in self.names if self.dice.random() < 0.6]}
        if op == "set_deletion_timestamp":
            if pod in self.deleting:
                return {"op": "update_pod_status", "pod": pod}
            self.deleting.add(pod)
            return {**event, "new_object": True} if self.dice.random() < 0.4 else event
        if op == "runtime":
            return {**event, "containers": self._changes(pod), "sync": self.dice.random() < 0.85}
        if op == "status" and self.dice.random() < 0.9:
            return {**event, "containers": self._changes(pod)}
        if op == "status":
            phases = ["Running", "Running", "Pending", "Failed", "Succeeded", "Unknown"]
            return {**event, "phase": self.dice.choice(phases)}
        return event

    def _changes(self, pod: str) -> Made:
        names = self.names[pod]
        chosen = self.dice.sample(names, min(len(names), self.dice.choice([1, 1, 1, 2])))
        return {name: self._change(pod, name) for name in chosen}

    def _change(self, pod: str, name: str) -> Made:
        [state] = self.dice.choices(["running", "terminated", "waiting", "none"], [8, 3, 1, 0.4])
        known = self.ids.get(f"{pod}-{name}", 0)
        if state == "running":
            return self._running(pod, name)
        change: Made = {"state": state}
        if known and (state == "terminated" or self.dice.random() < 0.7):
            change["id"] = self._id(pod, name)
        if state == "terminated":
            if not known:
                return self._running(pod, name)
            change["exit_code"] = self.dice.choice([0, 1, 42, 137])
        return change

    def _running(self, pod: str, name: str) -> Made:
        key = f"{pod}-{name}"
        # Now and then the same container runs on, and only the rest of its status changes.
        if key not in self.ids or self.dice.random() < 0.8:
            self.ids[key] = self.ids.get(key, 0) + 1
        change: Made = {"state": "running", "id": self._id(pod, name)}
        if self.kind == "statuses" and self.dice.random() < 0.7:
            change["started"] = self.dice.random() < 0.7
        if self.dice.random() < 0.1:
            change["started_at_ms"] = self.now + self.dice.choice([-1_000, -20_000, 3_000])
        return change

    def _id(self, pod: str, name: str) -> str:
        return f"containerd://{pod}-{name}-{self.ids[f'{pod}-{name}']}"
