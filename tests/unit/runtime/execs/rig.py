"""Exec attempts of a test's own on a scripted runtime behind the real wire."""

import asyncio
import time
from dataclasses import dataclass, field
from math import inf
from types import SimpleNamespace
from typing import Any

from probelet._rust import ExecEnd
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.execs.limits import ExecLimits
from probelet.runtime.execs.runtime_execs import RuntimeExecs

from tests.unit.node.scripted_runtime import ScriptedRuntime


@dataclass
class Answers:
    """Takes the answers in place of an engine."""

    finished: list[ExecEnd] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def now(self) -> int:
        return time.monotonic_ns()

    def finish_execs(self, finished: list[ExecEnd]) -> None:
        self.finished += finished
        self.news.set()

    async def count(self, count: int) -> list[tuple[int, str]]:
        while len(self.finished) < count:
            self.news.clear()
            await self.news.wait()
        return [(end.run, end.kind) for end in self.finished]


@dataclass
class Rig:
    runtime: ScriptedRuntime
    client: RuntimeClient
    answers: Answers = field(default_factory=Answers)
    made: list[RuntimeExecs] = field(default_factory=list)

    def execs(self, **limits: Any) -> RuntimeExecs:
        # These tests do not judge whose fault a timeout is: their timeouts are so short that a busy machine is late.
        execs = RuntimeExecs(self.client, self.answers, ExecLimits(starved_share=inf, **limits))
        self.made.append(execs)
        return execs

    async def asked(self, count: int) -> list[str]:
        """The commands that reached the runtime, once there are so many."""
        while len(self.runtime.called("exec_sync")) < count:
            await self.client.version()
        return [request.cmd[0] for request in self.runtime.called("exec_sync")]

    async def close(self) -> None:
        for execs in self.made:
            await execs.close()


def run(number: int, worker: str = "", timeout: int = 1) -> Any:
    return SimpleNamespace(
        run=number,
        container_id=f"scripted://{worker or number}",
        probe_type="liveness",
        argv=[f"probe{number}"],
        timeout_seconds=timeout,
        refusal=None,
    )
