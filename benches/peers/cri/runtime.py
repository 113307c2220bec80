"""A runtime that knows one call, over real gRPC: ``python -m benches.peers.cri.runtime SOCKET``.

ExecSync succeeds at once and returns its arrival time, in nanoseconds of the machine's monotonic clock. The program
prints a line when it listens, and ends when its input ends, so that it never outlives its benchmark.
"""

import asyncio
import sys
import time

from probelet.runtime.cri import grpc_channel as wire
from probelet.runtime.cri.v1 import api_pb2


class StampingRuntime:
    """The runtime behind the server: it answers each call with the time when the call arrived."""

    async def exec_sync(self, request: api_pb2.ExecSyncRequest) -> api_pb2.ExecSyncResponse:
        return api_pb2.ExecSyncResponse(stdout=str(time.monotonic_ns()).encode())


async def serve(socket: str) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    server = wire.Server(StampingRuntime())
    await server.start(socket)
    loop.add_reader(sys.stdin.fileno(), ended.set)
    print(f"listening on {socket}", flush=True)
    await ended.wait()
    await server.stop(0)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
