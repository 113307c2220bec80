"""The helper's process, and the real helper where it needs no container."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec.structs
import pytest
from probelet.runtime.execs.direct.counts import DirectCounts
from probelet.runtime.execs.direct.direct_execs import DirectExecs
from probelet.runtime.execs.direct.fallback import REFUSALS, Reason, refused
from probelet.runtime.execs.direct.helper_process import Helper
from probelet.runtime.execs.direct.program import helper_program

from tests.support.entering import entering
from tests.unit.runtime.execs.direct.example import INFO, INHERITED, changed, description
from tests.unit.runtime.execs.direct.scripted_helper import ScriptedHelper
from tests.unit.runtime.execs.rig import run


def test_a_refusal_is_a_reason_with_its_step_and_error() -> None:
    assert str(refused((9, 16, 1))) == "setup: capabilities: error 1"
    assert str(refused((7, 0, 0))) == "paused: the container"
    assert str(refused((11, 0, 0))) == "size: the request is too long for one message"
    assert {refused((why, 0, 0)).reason for why in REFUSALS} == set(REFUSALS.values())


def test_the_counts_name_every_reason() -> None:
    counts = DirectCounts(attempts=3)
    counts.fallbacks[Reason.SECCOMP] = 2
    lines = list(counts.series())
    assert "probelet_exec_direct_attempts_total 3" in lines
    assert 'probelet_exec_direct_fallbacks_total{reason="seccomp"} 2' in lines
    assert sum("fallbacks_total{" in line for line in lines) == len(Reason)


class Heard:
    """A helper, and why it was lost."""

    def __init__(self, program: Path) -> None:
        self.lost: asyncio.Queue[str] = asyncio.Queue()
        self.ready: asyncio.Queue[None] = asyncio.Queue()
        self.helper = Helper(program, lambda: self.ready.put_nowait(None), self.lost.put_nowait)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may enter containers")


class Described:
    """Containers whose descriptions a test writes."""

    def __init__(self, found: bytes) -> None:
        self.found = found

    async def described(self, container_id: str) -> bytes:
        return self.found

    def forget(self, container_id: str) -> None:
        """Keeps it."""

    def clear(self) -> None:
        """Keeps it."""


@asynccontextmanager
async def real_helper(found: bytes) -> AsyncIterator[DirectExecs]:
    program = helper_program()
    assert program is not None, "make build makes it"
    direct = DirectExecs(SimpleNamespace(), program)  # type: ignore[arg-type]
    direct._containers = Described(found)  # type: ignore[assignment]
    await direct.start()
    async with entering(direct):
        yield direct


@needs_root
async def test_a_process_that_is_no_container_is_refused() -> None:
    async with real_helper(description(changed("pid", os.getpid()))) as direct:
        assert await direct.attempt(run(7)) is None
        assert direct.counts.fallbacks == {Reason.IDENTITY: 1}


@needs_root
async def test_a_process_of_that_start_time_is_refused_for_its_cgroup() -> None:
    start_time = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    inherited = msgspec.structs.replace(INHERITED, start_time=start_time)
    async with real_helper(description(changed("pid", os.getpid()), inherited=inherited)) as direct:
        assert await direct.attempt(run(7)) is None
        assert direct.counts.fallbacks == {Reason.CGROUP: 1}


@needs_root
async def test_a_helper_that_cannot_read_a_request_ends_and_another_begins() -> None:
    async with real_helper(b"no description") as direct:
        outcome = await direct.attempt(run(7))
        assert outcome is not None
        assert (outcome.kind, outcome.output) == ("error", b"the helper of exec probes was lost: invalid data")
        while direct.counts.starts < 2 or direct._helper.bounds is None:  # noqa: ASYNC110
            await asyncio.sleep(0)
        direct._containers = Described(description(INFO))  # type: ignore[assignment]
        assert await direct.attempt(run(8)) is None
        assert direct.counts.fallbacks == {Reason.IDENTITY: 1}


async def test_a_helper_of_another_version_is_not_used(tmp_path: Path) -> None:
    scripted = ScriptedHelper(tmp_path, version=3)
    heard = Heard(scripted.program)
    heard.helper.start()
    why = await heard.lost.get()
    assert why == "it ended (0): its protocol is version 3 and not 4: it is of another probelet"
    assert heard.ready.empty()
    await heard.helper.close()
    scripted.close()


async def test_a_helper_whose_socket_the_engine_has_ends_when_it_is_closed(tmp_path: Path) -> None:
    scripted = ScriptedHelper(tmp_path)
    heard = Heard(scripted.program)
    heard.helper.start()
    await heard.ready.get()
    engines = os.dup(heard.helper.for_engine[0])
    await heard.helper.close()
    assert heard.helper.why == "it ended (0)"
    os.close(engines)
    scripted.close()


async def test_a_program_that_is_no_helper_is_tried_again_later(tmp_path: Path) -> None:
    program = tmp_path / "probelet-enter"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    heard = Heard(program)
    heard.helper.start()
    assert await heard.lost.get() == "it ended (3)"
    assert heard.helper.bounds is None
    await heard.helper.close()


async def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    heard = Heard(tmp_path / "no-such")
    heard.helper.start()
    assert await heard.lost.get() == f"{tmp_path}/no-such cannot be started: No such file or directory"
    await heard.helper.close()


async def test_a_request_without_a_helper_goes_over_the_runtime(tmp_path: Path) -> None:
    client: Any = SimpleNamespace()
    direct = DirectExecs(client, tmp_path / "no-such")
    await direct.start()
    assert await direct.attempt(run(7)) is None
    assert direct.counts.fallbacks == {Reason.HELPER: 1}
    await direct.close()
