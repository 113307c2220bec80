"""One soak: it starts the pods, injects faults at random and observes the runtime."""

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import Any

from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.errors import CriError
from probelet.runtime.cri.v1 import api_pb2

from benches.soak.containerd.ledger import START_FAILED, Ledger, Outage
from benches.soak.containerd.population import is_well, population
from benches.soak.containerd.vitals import Vitals, vitals
from tests.system.containerd.machine import Containerd
from tests.system.containerd.node import ContainerdNode

BETWEEN_SECONDS = (2.0, 15.0)
"""The time between two faults; some faults hit the recovery from the fault before."""

AWAY_SECONDS = 5.0
"""A daemon is down for at most this long; meanwhile some pods usually change."""

RECOVERY_SECONDS = 180.0
"""A daemon answers again within this time. containerd first asks every shim, which takes a minute on a busy machine."""

SETTLE_SECONDS = 400.0
"""A container in back-off waits at most five minutes, so a pod that is not back within this time never will be."""

AGREE_SECONDS = 30.0
"""The service's status must agree with the runtime within this time. The service lists the runtime once a second."""

LOOK_SECONDS = 1.0

Sample = tuple[float, Vitals, Vitals, int]
"""Seconds since the start, the vitals of probelet and of containerd, and the number of shims."""


class Soak:
    """Call ``start``, ``faults`` any number of times, then ``settle``; the ledger then holds what happened."""

    def __init__(self, containerd: Containerd, node: ContainerdNode, pods: int, seed: int) -> None:
        self.ledger = Ledger()
        self.done: Counter[str] = Counter()
        self.events: Counter[str] = Counter()
        """The service's events by reason, from its socket, until the soak killed it."""
        self.sandboxes: set[str] = set()
        self.samples: list[Sample] = []
        self._containerd = containerd
        self._node = node
        self._random = random.Random(seed)
        self._events_seen = 0
        self._began = time.monotonic()
        self.containers = population(pods)
        for name, container in self.containers.items():
            node.run(name, container, terminationGracePeriodSeconds=1)

    # Observing.

    def look(self) -> None:
        """Records what the runtime and the service report, if they are running."""
        with suppress(CriError):
            asyncio.run(self._look())
        for event in self._node.events_since(self._events_seen):
            self._events_seen = event["seq"]
            self.events[event["reason"]] += 1

    async def _look(self) -> None:
        async with RuntimeClient(self._containerd.endpoint) as client:
            await self.ledger.look(client)
            self.sandboxes |= {box.id for box in await client.list_pod_sandbox()}

    def sample(self) -> Sample:
        pids = (self._node.pid, self._containerd.pid)
        seconds = time.monotonic() - self._began
        taken = (seconds, vitals(pids[0]), vitals(pids[1]), len(self._containerd.shims()))
        self.samples.append(taken)
        return taken

    def rest(self, seconds: float) -> None:
        """Observes for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_SECONDS))
            self.look()

    def settle(self) -> bool:
        """Waits until every pod has run and the healthy pods are ready; returns whether they all are.

        This keeps faults away from a sandbox in creation: containerd 1.6, killed then, leaves its shim for ever.
        """
        deadline = time.monotonic() + SETTLE_SECONDS
        while not (settled := self._all_well_are_ready()) and time.monotonic() < deadline:
            self.rest(LOOK_SECONDS)
        return settled

    def _all_well_are_ready(self) -> bool:
        pods = self._node.pods()
        have_run = {one.name for one in self.ledger.instances.values() if one.started_ns}
        ready = (pods.get(name, {}).get("ready") for name in self.containers if is_well(name))
        return have_run == self.containers.keys() and all(ready)

    # Faults.

    def start(self, *arguments: str) -> None:
        self._events_seen = 0
        self._node.start(*arguments)

    def faults(self, seconds: float, kinds: tuple[Callable[[], None], ...]) -> None:
        """Injects one fault after another, of random kinds, until the time is over."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.rest(self._random.uniform(*BETWEEN_SECONDS))
            fault = self._random.choice(kinds)
            with suppress(CriError):
                fault()
            self.done[fault.__name__.removeprefix("kill_")] += 1
            self._say()

    def kill_probelet(self) -> None:
        self.look()
        begin = time.time_ns()
        self._node.signal(self._random.choice((signal.SIGKILL, signal.SIGTERM)))
        time.sleep(self._random.uniform(0, AWAY_SECONDS))
        self.start()
        self.ledger.outages.append(Outage("probelet", begin, time.time_ns()))

    def kill_containerd(self) -> None:
        self.look()
        begin = time.time_ns()
        self._containerd.kill(self._random.choice((signal.SIGKILL, signal.SIGTERM)))
        time.sleep(self._random.uniform(0, AWAY_SECONDS))
        self._containerd.run(RECOVERY_SECONDS)
        self.ledger.outages.append(Outage("containerd", begin, time.time_ns()))

    def kill_container(self) -> None:
        name = self._random.choice([name for name in self.containers if is_well(name)])
        running = [
            one
            for one in self._containerd.containers()
            if one.metadata.name == name and one.state == api_pb2.CONTAINER_RUNNING
        ]
        for one in running:
            # If the container has ended meanwhile, it has no process or no known PID, so nothing was killed.
            with suppress(StopIteration, ProcessLookupError, RuntimeError):
                os.kill(self._containerd.pid_of(one.id), signal.SIGKILL)
                self.ledger.killed.add(one.id)

    def _say(self) -> None:
        seconds, probelet, _, shims = self.sample()
        kills = ", ".join(f"{count} x {what}" for what, count in sorted(self.done.items()))
        restarts = sum(self.ledger.causes().values())
        held = f"probelet {probelet.resident / 1024:.1f} MiB and {probelet.descriptors} descriptors, {shims} shims"
        print(f"{seconds:6.0f} s  killed {kills}; {restarts} restarts; {held}", flush=True)

    # Findings.

    def findings(self) -> list[str]:
        """Returns what is wrong with the containers. The service must be running and all pods settled."""
        for line in self._node.lines_with("killing container"):
            self._note(line, line["reason"])
        for line in self._node.lines_with("runtime call failed"):
            if line["call"] in ("CreateContainer", "StartContainer"):
                self._note(line, START_FAILED)
        found = self.ledger.findings(list(self.containers))
        deadline = time.monotonic() + AGREE_SECONDS
        while (apart := self._disagreements()) and time.monotonic() < deadline:
            self.rest(LOOK_SECONDS)
        return found + apart

    def _note(self, line: dict[str, Any], reason: str) -> None:
        at = int(datetime.fromisoformat(line["at"]).timestamp() * 1e9)
        self.ledger.said.setdefault((line["container"], reason), []).append(at)

    def _disagreements(self) -> list[str]:
        """Returns the differences between the service's status and the runtime."""
        found = []
        pods = self._node.pods()
        self.look()
        for name in self.containers:
            (row,), instances = pods[name]["containers"], self.ledger.of(name)
            if row["restart_count"] != instances[-1].count:
                found.append(f"{name}: {row['restart_count']} restarts shown, the runtime keeps {instances[-1].count}")
            before = [one for one in instances[:-1] if one.count == instances[-1].count - 1]
            ended = before[0].exit_code if before and before[0].started_ns and instances[-1].exit_code is None else None
            if ended is not None and row["last_exit"]["exit_code"] != ended:
                found.append(f"{name}: last exit code {row['last_exit']['exit_code']} shown, the runtime says {ended}")
            if is_well(name) and not pods[name]["ready"]:
                found.append(f"{name}: does not get ready: {json.dumps(row)}")
        return found

    def document(self) -> dict[str, Any]:
        """Returns what happened, for the report."""
        return {
            "pods": len(self.containers),
            "kills": {**self.done, "container": len(self.ledger.killed)},
            "instances": len(self.ledger.instances),
            "restarts": dict(self.ledger.causes()),
            "events": dict(self.events),
            "outages": [asdict(outage) for outage in self.ledger.outages],
            "ended": [
                {**asdict(one), "cause": self.ledger.cause(one)}
                for name in self.containers
                for one in self.ledger.of(name)[:-1]
            ],
        }
