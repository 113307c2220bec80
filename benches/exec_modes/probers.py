"""The probers of a measurement: probelet's engine in either mode, and a bare loop of ExecSync calls beside it."""

import asyncio
import json
import os
import random
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import grpc  # type: ignore[import-untyped]
from probelet._rust import Engine
from probelet.daemon.execs import share_helper
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.execs.direct.direct_execs import DirectExecs
from probelet.runtime.execs.direct.program import helper_program
from probelet.runtime.execs.limits import ExecLimits
from probelet.runtime.execs.runtime_execs import RuntimeExecs

from benches.exec_modes.pods import COMMAND, TIMEOUT_SECONDS, Probed, add
from benches.peers.cri.bare import METHOD
from tests.system.containerd.machine import Containerd

MODES = ("cri", "direct")


class Prober(Protocol):
    """A prober at work."""

    @property
    def processes(self) -> dict[str, list[int]]:
        """The processes that take part, by their role."""

    def counts(self) -> tuple[int, int]:
        """Attempts that have ended since the start, and failures among them."""

    def latest(self) -> list[float]:
        """Milliseconds of each worker's latest attempt, or of each attempt since the last call."""


def roles(containerd: Containerd) -> dict[str, list[int]]:
    """This process, and the runtime with its shims; runc and the commands are the shims' children in the end."""
    return {"prober": [os.getpid()], "runtime": [containerd.pid, *containerd.shims()]}


@dataclass
class EngineProber:
    """probelet's engine and the code of ``probelet run`` between the engine and the runtime."""

    engine: Engine
    execs: RuntimeExecs
    processes: dict[str, list[int]]
    direct: DirectExecs | None = None

    def read(self) -> None:
        batch = self.engine.drain()
        self.execs.start(batch.execs)
        if self.direct is not None:
            self.direct.take(batch.entered)

    def counts(self) -> tuple[int, int]:
        page = self.engine.metrics().decode()
        found = re.findall(r'^probelet_probe_attempts_total\{cause="(\w+)"\} (\d+)$', page, re.MULTILINE)
        by_cause = {cause: int(count) for cause, count in found}
        return sum(by_cause.values()), sum(by_cause.values()) - by_cause["ok"]

    def latest(self) -> list[float]:
        states = json.loads(self.engine.probe_states())
        return [row["last"]["duration_ms"] for row in states if row["handler"] == "exec" and row["last"]]


@asynccontextmanager
async def probelet(mode: str, containerd: Containerd, load: list[Probed]) -> AsyncIterator[EngineProber]:
    """Probes the load in a mode of ``execMode``."""
    loop, processes, engine = asyncio.get_running_loop(), roles(containerd), Engine(seed=1)
    async with RuntimeClient(containerd.endpoint) as client:
        direct = None
        if mode == "direct":
            program = helper_program()
            assert program is not None, "make build makes it"
            direct = DirectExecs(client, program)
            await direct.start()
            share_helper(direct, engine, ExecLimits())
            processes["helper"] = [direct._helper._pid]
        prober = EngineProber(engine, RuntimeExecs(client, engine, direct=direct), processes, direct)
        loop.add_reader(engine.fileno(), prober.read)
        add(engine, load)
        try:
            yield prober
        finally:
            loop.remove_reader(engine.fileno())
            await prober.execs.close()
            engine.close()
        if direct is not None:
            assert not direct.counts.fallbacks, direct.counts.fallbacks


@dataclass
class BareProber:
    """What the bare loop has done."""

    processes: dict[str, list[int]]
    ended: int = 0
    failed: int = 0
    took_ms: list[float] = field(default_factory=list)

    def counts(self) -> tuple[int, int]:
        return self.ended, self.failed

    def latest(self) -> list[float]:
        took, self.took_ms = self.took_ms, []
        return took


@asynccontextmanager
async def bare(containerd: Containerd, load: list[Probed]) -> AsyncIterator[BareProber]:
    """The same calls at the same pace over the gRPC library alone."""
    prober = BareProber(roles(containerd))
    async with grpc.aio.insecure_channel(containerd.endpoint) as channel:
        call = channel.unary_unary(
            METHOD,
            request_serializer=api_pb2.ExecSyncRequest.SerializeToString,
            response_deserializer=api_pb2.ExecSyncResponse.FromString,
        )
        calls = set[asyncio.Task[None]]()
        pacing = asyncio.create_task(_pace(load, call, prober, calls))
        try:
            yield prober
        finally:
            tasks = [pacing, *calls]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _pace(load: list[Probed], call: Any, prober: BareProber, calls: set[asyncio.Task[None]]) -> None:
    """Gives every worker a phase of its own, as a young kubelet does."""
    dice, period = random.Random(1), load[0].period
    names = [probed.container_id.partition("://")[2] for probed in load for _ in range(probed.probes)]
    schedule = sorted((dice.random() * period, name) for name in names)
    start = time.monotonic()
    while True:
        for phase, name in schedule:
            if (left := start + phase - time.monotonic()) > 0:
                await asyncio.sleep(left)
            task = asyncio.create_task(_ask(call, name, prober))
            calls.add(task)
            task.add_done_callback(calls.discard)
        start += period


async def _ask(call: Any, name: str, prober: BareProber) -> None:
    request = api_pb2.ExecSyncRequest(container_id=name, cmd=COMMAND, timeout=TIMEOUT_SECONDS)
    began = time.perf_counter()
    try:
        answer = await call(request, timeout=TIMEOUT_SECONDS + 120)
        prober.failed += answer.exit_code != 0
    except grpc.aio.AioRpcError:
        prober.failed += 1
    prober.ended += 1
    prober.took_ms.append(1e3 * (time.perf_counter() - began))
