"""One command through both ways into a container: the runtime's ExecSync, and the helper."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.exec import ExecOutcome, exec_attempt
from probelet.runtime.execs.direct.direct_execs import DirectExecs
from probelet.runtime.execs.direct.fallback import Reason
from probelet.runtime.execs.direct.program import helper_program

from tests.support.entering import entering
from tests.system.containerd.machine import Containerd


@dataclass
class Both:
    """Both ways into the containers of a containerd; ``ids`` are their IDs by the name of their pod."""

    client: RuntimeClient
    direct: DirectExecs
    ids: dict[str, str]
    numbers: Iterator[int] = field(default_factory=itertools.count)

    async def over_the_runtime(self, pod: str, command: Sequence[str], seconds: int = 30) -> ExecOutcome:
        return await exec_attempt(self.client, self.ids[pod], command, seconds)

    async def directly(self, pod: str, command: Sequence[str], seconds: int = 30) -> ExecOutcome | None:
        name, argv = self.name(pod), list(command)
        attempt = {"run": next(self.numbers), "container_id": name, "argv": argv, "timeout_seconds": seconds}
        run: Any = SimpleNamespace(**attempt, refusal=None)
        return await self.direct.attempt(run)

    def name(self, pod: str) -> str:
        """The full ID of a pod's container."""
        return f"containerd://{self.ids[pod]}"

    async def outcome(self, pod: str, command: Sequence[str], seconds: int = 30) -> ExecOutcome:
        """The outcome of an attempt that the helper carries out."""
        outcome = await self.directly(pod, command, seconds)
        assert outcome is not None, f"{pod} {command}: over the runtime, {self.fallbacks()}"
        return outcome

    async def falls_back(self, pod: str, command: Sequence[str] = ("true",), seconds: int = 30) -> Reason:
        """Why an attempt goes over the runtime."""
        before = self.fallbacks()
        assert await self.directly(pod, command, seconds) is None, "the helper carried it out"
        (reason,) = self.fallbacks() - before
        return reason

    def fallbacks(self) -> Any:
        return self.direct.counts.fallbacks.copy()

    async def another_helper(self, before: int) -> None:
        """Waits for the helper after the PID ``before``, whose end the engine may see sooner than Python does."""
        await eventually(lambda: self.is_ready and self.helper != before, "another helper")

    @property
    def is_ready(self) -> bool:
        """Whether there is a helper."""
        return self.direct._helper.bounds is not None

    @property
    def helper(self) -> int:
        """The PID of the helper."""
        return self.direct._helper._pid


@asynccontextmanager
async def both_ways(containerd: Containerd, ids: dict[str, str]) -> AsyncIterator[Both]:
    """Opens both ways."""
    program = helper_program()
    assert program is not None, "make build makes it"
    async with RuntimeClient(containerd.endpoint) as client:
        direct = DirectExecs(client, program)
        await direct.start()
        async with entering(direct):
            yield Both(client, direct, ids)


def specification(containerd: Containerd, container_id: str) -> dict[str, Any]:
    """The OCI specification of a container."""
    found: dict[str, Any] = json.loads(containerd.ctr("containers", "info", container_id))["Spec"]
    return found


async def eventually(true: Callable[[], object], what: str) -> None:
    """Waits until ``true`` returns true."""
    for _ in range(TRIES):
        if true():
            return
        await asyncio.sleep(PAUSE_SECONDS)
    raise AssertionError(f"waited in vain for {what}")


TRIES, PAUSE_SECONDS = 100_000, 0.001
