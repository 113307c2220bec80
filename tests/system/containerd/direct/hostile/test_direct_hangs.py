"""A working directory whose file system hangs: nothing can be started in the container."""

import asyncio
from pathlib import Path

import pytest
from probelet.runtime.cri.exec import exec_attempt
from probelet.runtime.execs.direct.fallback import Reason

from tests.support.hanging_directory import hanging_directory
from tests.system.containerd.direct.both import Both, eventually
from tests.system.containerd.machine import Containerd, process_state

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not Path("/dev/fuse").exists(), reason="needs /dev/fuse (modprobe fuse)"),
]

POD = "working-directory"
PLACE = "/srv/work"


def children(both: Both) -> list[int]:
    text = Path(f"/proc/{both.helper}/task/{both.helper}/children").read_text()
    return [int(pid) for pid in text.split()]


async def test_an_attempt_goes_to_the_runtime_and_the_next_ones_at_once(both: Both, containerd: Containerd) -> None:
    assert (await both.outcome(POD, ["true"], 1)).exit_code == 0
    with hanging_directory(containerd.pid_of(both.ids[POD]), PLACE) as directory:
        assert (await both.outcome(POD, ["true"], 1)).exit_code == 0
        directory.hang()
        assert await both.falls_back(POD, ["true"], 1) is Reason.STUCK
        (held,) = children(both)
        await eventually(lambda: process_state(held) == "D", "the file system to hold it")
        # It was killed a second ago.
        await asyncio.sleep(1)
        for _ in range(5):
            assert await both.falls_back(POD, ["true"], 1) is Reason.STUCK
        assert children(both) == [held], "no further fork hangs there"
        assert (await both.outcome("bare", ["true"], 1)).exit_code == 0, "other containers notice nothing"
        # The client of the runtime gives its call up, and that is a failure.
        found = await exec_attempt(both.client, both.ids[POD], ["true"], 1, deadline=3)
        assert found.kind == "timeout"
        directory.answer()
        await eventually(lambda: not children(both), "the end of what was held")
        assert (await both.outcome(POD, ["true"], 1)).exit_code == 0


async def test_a_helper_with_a_command_that_cannot_end_stops_at_once(both: Both, containerd: Containerd) -> None:
    with hanging_directory(containerd.pid_of(both.ids[POD]), PLACE) as directory:
        await both.outcome(POD, ["true"], 1)
        directory.hang()
        assert await both.falls_back(POD, ["true"], 1) is Reason.STUCK
        before = both.helper
        await asyncio.wait_for(both.direct.close(), 10)
        assert not Path(f"/proc/{before}").exists()
        directory.answer()


async def test_an_output_that_no_answer_holds(both: Both) -> None:
    """Over the runtime it is a prober error, as for a kubelet: the answer is longer than 16 MiB."""
    command = ["sh", "-c", "head -c 17000000 /dev/zero; exit 3"]
    found = await both.outcome("bare", command)
    assert (found.kind, found.exit_code) == ("exit", 3)
    assert (await both.over_the_runtime("bare", command)).kind == "error"
