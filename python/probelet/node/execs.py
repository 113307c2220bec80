"""Exec attempts: ExecSync on the runtime, the answers handed back to the engine in batches."""

import asyncio
from typing import Literal, Protocol

from probelet._rust import ExecRun
from probelet.cri.client import RuntimeClient
from probelet.cri.exec import exec_attempt
from probelet.node.facts import bare_id
from probelet.node.tasks import Tasks

Finished = tuple[int, Literal["exit", "timeout", "error"], int, bytes]


class Sink(Protocol):
    """The part of ``Engine`` that takes the answers."""

    def finish_execs(self, finished: list[Finished]) -> None: ...


class Execs:
    """Runs what the engine asks for, at once and all of it: the engine has one attempt in flight per worker."""

    def __init__(self, client: RuntimeClient, sink: Sink, tasks: Tasks) -> None:
        self.in_flight = 0
        """Attempts that wait for the runtime."""
        self._client = client
        self._sink = sink
        self._tasks = tasks
        self._finished: list[Finished] = []

    def start(self, runs: list[ExecRun]) -> None:
        """Begin these attempts."""
        for run in runs:
            self._tasks.spawn(self._run(run))

    async def _run(self, run: ExecRun) -> None:
        self.in_flight += 1
        try:
            outcome = await exec_attempt(self._client, bare_id(run.container_id), run.argv, run.timeout_seconds)
        finally:
            self.in_flight -= 1
        if not self._finished:
            # One call for all attempts that end in this turn of the loop.
            asyncio.get_running_loop().call_soon(self._flush)
        self._finished.append((run.run, outcome.kind, outcome.exit_code, outcome.output))

    def _flush(self) -> None:
        finished, self._finished = self._finished, []
        self._sink.finish_execs(finished)
