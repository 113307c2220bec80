"""A bare loop over the gRPC library: it keeps a schedule, makes a call for each entry, and does nothing else."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc  # type: ignore[import-untyped]
from probelet.lab.bench.pods import PROGRAM
from probelet.runtime.cri.v1 import api_pb2

from benches.peers.cri.stamp import Load, Stamps

METHOD = "/runtime.v1.RuntimeService/ExecSync"
TIMEOUT_SECONDS = 1
LIMIT_SECONDS = 121
"""The kubelet's two minutes plus the command's timeout."""


@asynccontextmanager
async def bare(load: Load, stamps: Stamps) -> AsyncIterator[None]:
    async with grpc.aio.insecure_channel(f"unix:{load.socket}") as channel:
        call = channel.unary_unary(
            METHOD,
            request_serializer=api_pb2.ExecSyncRequest.SerializeToString,
            response_deserializer=api_pb2.ExecSyncResponse.FromString,
        )
        pacing = asyncio.create_task(_pace(load, stamps, call))
        yield
        pacing.cancel()


async def _pace(load: Load, stamps: Stamps, call: Any) -> None:
    """Gives every worker a phase of its own, as a kubelet does, and sorts the workers by phase."""
    dice, calls = random.Random(1), set[asyncio.Task[None]]()
    schedule = sorted((dice.random() * load.period, number) for number in range(load.workers))
    start = time.monotonic()
    while True:
        for phase, number in schedule:
            due = start + phase
            if (left := due - time.monotonic()) > 0:
                await asyncio.sleep(left)
            task = asyncio.create_task(_ask(call, f"{number:064x}", int(due * 1e9), stamps))
            calls.add(task)
            task.add_done_callback(calls.discard)
        start += load.period


async def _ask(call: Any, container_id: str, due_ns: int, stamps: Stamps) -> None:
    request = api_pb2.ExecSyncRequest(container_id=container_id, cmd=PROGRAM, timeout=TIMEOUT_SECONDS)
    try:
        answer = await call(request, timeout=LIMIT_SECONDS)
    except grpc.aio.AioRpcError:
        stamps.failed += 1
        return
    stamps.answered(due_ns, answer.stdout)
