"""The helper's answers, and the real helper where it needs no container."""

import asyncio
import dataclasses
import os
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probelet.runtime.execs.direct.counts import DirectCounts
from probelet.runtime.execs.direct.fallback import Reason
from probelet.runtime.execs.direct.helper_process import Helper
from probelet.runtime.execs.direct.message import (
    Answer,
    Ended,
    Hello,
    Over,
    Pong,
    Refused,
    Stuck,
    TimedOut,
    Unable,
    answer,
    ping,
    run,
)
from probelet.runtime.execs.direct.program import helper_program

from tests.unit.runtime.execs.direct.example import INFO, changed, description


def test_every_answer_is_read() -> None:
    assert answer(struct.pack("<BQiI", 4, 7, 3, 2) + b"oe") == Ended(7, 3, b"oe", b"")
    assert answer(struct.pack("<BQiI", 4, 7, 137, 1) + b"oe") == Ended(7, 137, b"o", b"e")
    assert answer(struct.pack("<BQ", 3, 9)) == Pong(9)
    assert answer(struct.pack("<BQ", 5, 7)) == TimedOut(7)
    assert answer(struct.pack("<BQ", 6, 7)) == Stuck(7)
    assert answer(b"\x02why") == Unable("why")
    assert answer(struct.pack("<BQ", 8, 7)) == Over(7)
    assert isinstance(answer(struct.pack("<BB17Q", 1, 2, *range(17))), Hello)
    assert isinstance(answer(struct.pack("<BB17Q", 1, 1, *range(17))), Unable)
    refused = answer(struct.pack("<BQBBi", 7, 7, 9, 16, 1))
    assert refused == Refused(7, Reason.SETUP, "capabilities: error 1")
    assert answer(struct.pack("<BQBBi", 7, 7, 7, 0, 0)) == Refused(7, Reason.PAUSED, "the container")


@given(st.binary(max_size=64))
def test_bytes_are_an_answer_or_an_error(message: bytes) -> None:
    with suppress(ValueError):
        answer(message)


def test_the_counts_name_every_reason() -> None:
    counts = DirectCounts(attempts=3)
    counts.fallbacks[Reason.SECCOMP] = 2
    lines = list(counts.series())
    assert "probelet_exec_direct_attempts_total 3" in lines
    assert 'probelet_exec_direct_fallbacks_total{reason="seccomp"} 2' in lines
    assert sum("fallbacks_total{" in line for line in lines) == len(Reason)


class Heard:
    """What a helper answers."""

    def __init__(self, program: Path) -> None:
        self.answers: asyncio.Queue[Answer] = asyncio.Queue()
        self.lost: asyncio.Queue[str] = asyncio.Queue()
        self.helper = Helper(program, self.answers.put_nowait, self.lost.put_nowait)


@pytest.fixture
async def heard() -> AsyncIterator[Heard]:
    program = helper_program()
    assert program is not None, "make build makes it"
    heard = Heard(program)
    heard.helper.start()
    await heard.helper.heard.wait()
    yield heard
    await heard.helper.close()


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may enter containers")


@needs_root
async def test_a_process_that_is_no_container_is_refused(heard: Heard) -> None:
    here = description(changed("pid", os.getpid()))
    assert heard.helper.send(run(7, 1, here, ["true"]))
    found = await heard.answers.get()
    assert isinstance(found, Refused)
    assert (found.id, found.reason) == (7, Reason.IDENTITY)


@needs_root
async def test_a_process_of_that_start_time_is_refused_for_its_cgroup(heard: Heard) -> None:
    start_time = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    here = description(changed("pid", os.getpid()), around=surroundings_of(start_time))
    assert heard.helper.send(run(7, 1, here, ["true"]))
    found = await heard.answers.get()
    assert isinstance(found, Refused)
    assert (found.id, found.reason) == (7, Reason.CGROUP)


def surroundings_of(start_time: int) -> Any:
    from tests.unit.runtime.execs.direct.example import AROUND

    return dataclasses.replace(AROUND, start_time=start_time)


@needs_root
async def test_a_helper_that_cannot_read_a_request_ends_and_another_begins(heard: Heard) -> None:
    assert heard.helper.send(b"\x01 no request")
    assert "it ended (1): invalid data" in await heard.lost.get()
    assert heard.helper.hello is None
    while heard.helper.hello is None:
        heard.helper.heard.clear()
        await heard.helper.heard.wait()
    assert heard.helper.starts == 2


@needs_root
async def test_a_ping_is_answered(heard: Heard) -> None:
    heard.helper._asked = 41
    assert heard.helper.send(ping(41))
    # The next answer comes after the pong.
    assert heard.helper.send(run(7, 1, description(INFO), ["true"]))
    await heard.answers.get()
    assert heard.helper._answered == 41


@needs_root
async def test_each_socket_gets_its_own_answers_and_the_engines_may_close(heard: Heard) -> None:
    engine = socket.socket(fileno=os.dup(heard.helper.for_engine[0]))
    engine.send(run(7, 1, description(INFO), ["true"]))
    assert heard.helper.send(run(8, 1, description(INFO), ["true"]))
    found = await heard.answers.get()
    assert isinstance(found, Refused)
    assert found.id == 8
    engine.settimeout(30)
    answered = answer(engine.recv(1024))
    assert isinstance(answered, Refused)
    assert answered.id == 7
    # One request more, whose answer nobody reads: the helper must not end with this socket.
    engine.send(run(9, 1, description(INFO), ["true"]))
    engine.shutdown(socket.SHUT_RDWR)
    engine.close()
    assert heard.helper.send(run(10, 1, description(INFO), ["true"]))
    found = await heard.answers.get()
    assert isinstance(found, Refused)
    assert (found.id, heard.helper.starts) == (10, 1)


async def test_a_program_that_is_no_helper_is_tried_again_later(tmp_path: Path) -> None:
    program = tmp_path / "probelet-enter"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    heard = Heard(program)
    heard.helper.start()
    assert await heard.lost.get() == "it ended (3)"
    assert heard.helper.hello is None
    assert not heard.helper.send(b"x")
    await heard.helper.close()


async def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    heard = Heard(tmp_path / "no-such")
    heard.helper.start()
    assert await heard.lost.get() == f"{tmp_path}/no-such cannot be started: No such file or directory"
    await heard.helper.close()


async def test_a_request_without_a_helper_goes_over_the_runtime(tmp_path: Path) -> None:
    from probelet.runtime.execs.direct.direct_execs import DirectExecs

    client: Any = SimpleNamespace()
    direct = DirectExecs(client, tmp_path / "no-such")
    await direct.start()
    attempt: Any = SimpleNamespace(container_id="containerd://0", argv=["true"], timeout_seconds=1, refusal=None)
    assert await direct.attempt(attempt) is None
    assert direct.counts.fallbacks == {Reason.HELPER: 1}
    await direct.close()
