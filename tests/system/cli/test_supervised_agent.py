"""``probelet agent --supervise``: an agent that dies is there again at once, and one that ends for good is not."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import until
from tests.system.cli.agent_process import agent, begun
from tests.unit.agent.made_pod import EXEC, made_pod
from tests.unit.agent.scripted_agent import AgentNode

pytestmark = pytest.mark.e2e

DIED = "the agent died and is started again"


def worker(supervisor: asyncio.subprocess.Process) -> int:
    """The process of the agent; 0 while there is none."""
    found = Path(f"/proc/{supervisor.pid}/task/{supervisor.pid}/children").read_text().split()
    return int(found[0]) if found else 0


async def said(supervisor: asyncio.subprocess.Process, message: str) -> dict[str, Any]:
    """The next line of the log with this message."""
    assert supervisor.stderr is not None
    while line := await supervisor.stderr.readline():
        row: dict[str, Any] = json.loads(line)
        if row["message"] == message:
            return row
    raise AssertionError(f"the log ended without: {message}")


async def test_an_agent_that_is_killed_three_times_goes_on_each_time_and_turns_no_condition(
    bare_node: AgentNode,
) -> None:
    bare_node.run(made_pod({"app": {"readinessProbe": EXEC, "livenessProbe": EXEC}}))
    async with agent(bare_node, "--supervise") as supervisor:
        await until(bare_node.is_ready)
        writes = bare_node.api.seen("apply", "pods")
        for waits in (0, 1, 2):
            await said(supervisor, "listening")
            killed = worker(supervisor)
            os.kill(killed, signal.SIGKILL)
            row = await said(supervisor, DIED)
            assert (row["cause"], row["in_seconds"], row["level"]) == ("SIGKILL", waits, "warning")
            await until(lambda: worker(supervisor) not in (0, killed))  # noqa: B023
        await said(supervisor, "listening")
        probed = len(bare_node.runtime.called("exec_sync"))
        await until(lambda: len(bare_node.runtime.called("exec_sync")) > probed + 4)
        assert bare_node.api.seen("apply", "pods") == writes, "nothing flaps"
    assert supervisor.returncode == 0


async def test_a_signal_to_the_parent_ends_the_agent_as_it_ends_by_itself(bare_node: AgentNode) -> None:
    supervisor = await begun(bare_node, "--supervise")
    await said(supervisor, "listening")
    supervisor.terminate()
    assert (await said(supervisor, "leaving the pods to the kubelet"))["reason"] == "SIGTERM"
    assert await supervisor.wait() == 0


async def test_the_agent_ends_with_its_parent(bare_node: AgentNode) -> None:
    supervisor = await begun(bare_node, "--supervise")
    await said(supervisor, "listening")
    one = worker(supervisor)
    supervisor.kill()
    await supervisor.communicate()
    await until(lambda: not _lives(one))


def _lives(process: int) -> bool:
    """Whether it is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_a_mistake_on_the_command_line_is_said_once_and_an_agent_that_cannot_work_is_tried_again(
    bare_node: AgentNode, tmp_path: Path
) -> None:
    mistaken = await begun(bare_node, "--supervise", node_ip="nowhere")
    _, err = await mistaken.communicate()
    assert (mistaken.returncode, len(err.splitlines())) == (2, 1)
    waiting = await begun(bare_node, "--supervise", runtime=f"unix://{tmp_path / 'no.sock'}")
    found = [await said(waiting, DIED) for _ in range(2)]
    assert [(row["cause"], row["in_seconds"]) for row in found] == [("exit code 3", 0), ("exit code 3", 1)]
    waiting.terminate()
    await waiting.communicate()
    # It waits, or an agent is just starting.
    assert waiting.returncode in (0, 3, 128 + signal.SIGTERM)


async def test_an_agent_that_somebody_asks_to_end_is_not_started_again(bare_node: AgentNode) -> None:
    supervisor = await begun(bare_node, "--supervise")
    await said(supervisor, "listening")
    os.kill(worker(supervisor), signal.SIGTERM)
    assert await supervisor.wait() == 0
