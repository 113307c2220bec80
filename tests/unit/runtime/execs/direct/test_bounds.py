"""What the helper's descriptions of containers may cost, against a scripted runtime."""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from probelet.runtime.execs.direct import containers as module
from probelet.runtime.execs.direct.direct_execs import DirectExecs
from probelet.runtime.execs.direct.fallback import Reason
from probelet.runtime.execs.direct.program import helper_program

from tests.support.entering import entering
from tests.unit.runtime.execs.direct.example import changed
from tests.unit.runtime.execs.rig import run

REQUEST_BYTES_MAX = 128 * 1024
"""The longest request (rust/enter-protocol/src/lib.rs)."""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may enter containers")


class Runtime:
    """Describes every container as this test's own process."""

    def __init__(self, env: list[str] | None = None) -> None:
        info = changed("pid", os.getpid())
        info["sandboxID"] = "/"
        info["runtimeSpec"]["process"]["env"] = env or []
        self.info, self.asked = json.dumps(info), 0

    async def container_status(self, container_id: str, *, verbose: bool) -> Any:
        self.asked += 1
        return SimpleNamespace(info={"info": self.info})

    async def pod_sandbox_status(self, sandbox_id: str, *, verbose: bool) -> Any:
        return SimpleNamespace(info={"info": json.dumps({"pid": os.getpid()})})


async def reasons(runtime: Runtime, ids: list[str]) -> list[Reason]:
    program = helper_program()
    assert program is not None, "make build makes it"
    client: Any = runtime
    direct = DirectExecs(client, program)
    await direct.start()
    async with entering(direct):
        for number, container_id in enumerate(ids):
            assert await direct.attempt(run(number, container_id)) is None
        return list(direct.counts.fallbacks.elements())


async def test_a_request_that_is_too_long_goes_over_the_runtime() -> None:
    runtime = Runtime(["A=" + "x" * REQUEST_BYTES_MAX])
    assert await reasons(runtime, ["0" * 64]) == [Reason.SIZE]


async def test_a_container_that_is_none_is_read_again_each_time() -> None:
    runtime = Runtime()
    assert await reasons(runtime, ["0" * 64] * 3) == [Reason.CGROUP] * 3
    assert runtime.asked == 3


async def test_only_so_many_containers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONTAINERS_MAX", 2)
    runtime = Runtime(["A=" + "x" * REQUEST_BYTES_MAX])
    first, second, third = ("0" * 64, "1" * 64, "2" * 64)
    # The first is used again, so the second goes when the third comes.
    await reasons(runtime, [first, second, first, third, first])
    assert runtime.asked == 3
    runtime.asked = 0
    await reasons(runtime, [first, second, first, third, second])
    assert runtime.asked == 4


def test_the_program_is_in_this_checkout() -> None:
    program = helper_program()
    assert program is not None
    assert Path(os.path.realpath(program)).name == "probelet-enter"
