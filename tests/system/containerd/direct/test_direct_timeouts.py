"""What is left of a command after its timeout, and commands that cannot end."""

from pathlib import Path

import pytest
from probelet.runtime.cri.exec import timed_out

from tests.system.containerd.direct.both import Both, eventually

pytestmark = pytest.mark.e2e

SLEEP = 100_123


async def sleepers(both: Both, pod: str) -> int:
    found = await both.outcome(pod, ["sh", "-c", f"grep -lsE '^sleep.{SLEEP}' /proc/[0-9]*/cmdline | wc -l"])
    return int(found.output)


async def test_a_command_ends_at_its_timeout_in_the_kubelets_words(both: Both) -> None:
    command = ["sleep", str(SLEEP)]
    directly = await both.outcome("bare", command, seconds=1)
    assert directly == timed_out(command, 1)
    assert directly == await both.over_the_runtime("bare", command, seconds=1)


async def test_a_timeout_kills_the_whole_process_group(both: Both) -> None:
    """containerd kills the first process alone; its children go on."""
    command = ["sh", "-c", f"sleep {SLEEP} & sh -c 'sleep {SLEEP}; true'; true"]
    assert (await both.outcome("neighbour", command, seconds=1)).kind == "timeout"
    # They were killed before the answer; the kernel may need a moment to end them.
    for _ in range(1000):
        if await sleepers(both, "neighbour") == 0:
            return
    raise AssertionError("the children are still there")


async def test_a_child_that_holds_the_output_open_is_a_timeout(both: Both) -> None:
    """containerd 1.6 waits for the child, whatever the timeout."""
    assert (await both.outcome("neighbour", ["sh", "-c", f"sleep {SLEEP} &"], seconds=1)).kind == "timeout"


async def test_a_command_that_ignores_signals_and_writes_without_end_is_killed(both: Both) -> None:
    command = ["sh", "-c", "trap '' TERM INT HUP PIPE; while :; do echo x; done"]
    assert (await both.outcome("bare", command, seconds=1)).kind == "timeout"


async def test_a_stopped_command_is_killed(both: Both) -> None:
    assert (await both.outcome("bare", ["sh", "-c", "kill -STOP $$"], seconds=1)).kind == "timeout"


async def test_the_helper_keeps_nothing_of_commands_that_ended(both: Both) -> None:
    """An answer is sent before its command is forgotten, so the test waits until the helper has no child."""
    process = Path(f"/proc/{both.helper}")

    def children() -> str:
        return (process / "task" / process.name / "children").read_text()

    def descriptors() -> int:
        return len(list((process / "fd").iterdir()))

    await both.outcome("bare", ["true"])
    await eventually(lambda: not children(), "the end of earlier commands")
    before = descriptors()
    for _ in range(20):
        await both.outcome("bare", ["sh", "-c", "sleep 0.01 & exit 1"])
    await eventually(lambda: not children(), "the end of every command")
    await eventually(lambda: descriptors() <= before, f"{before} descriptors again")
