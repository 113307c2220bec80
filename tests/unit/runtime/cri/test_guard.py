"""The guard tells the end of the runtime alone from the end of its owner."""

import logging
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from probelet.runtime.embedded import guard


@pytest.fixture
def pipe() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def pair(pipe: ExitStack) -> tuple[int, int]:
    """A pipe: its reading end, which the test closes, and its writing end."""
    reading, writing = os.pipe()
    pipe.enter_context(closing(os.fdopen(reading, "rb")))
    return reading, writing


@pytest.mark.parametrize(
    ("owner_is_gone", "exit_code", "said"),
    [
        pytest.param(True, 0, [], id="with its owner"),
        pytest.param(
            False,
            guard.RUNTIME_DIED_EXIT_CODE,
            ["ended unexpectedly (exit code 0); its containers are killed"],
            id="alone",
        ),
    ],
)
def test_a_runtime_that_has_ended_before_the_guard_looks(
    owner_is_gone: bool, exit_code: int, said: list[str], pipe: ExitStack, caplog: pytest.LogCaptureFixture
) -> None:
    runtime = subprocess.Popen(["true"])
    os.waitid(os.P_PID, runtime.pid, os.WEXITED | os.WNOWAIT)
    # The guard waits for the process, so this object must not.
    runtime.returncode = 0
    owner, owner_writing = pair(pipe)
    stop, stop_writing = pair(pipe)
    _, life_writing = pair(pipe)
    if owner_is_gone:
        os.close(owner_writing)
    else:
        pipe.callback(os.close, owner_writing)
    pipe.callback(os.close, stop_writing)
    with caplog.at_level(logging.ERROR, logger=guard.__name__):
        assert guard._watch(runtime.pid, stop, life_writing, owner) == exit_code
    assert [record.getMessage() for record in caplog.records] == said
