"""``--isolate namespace``: what a pod has of the network, and what is left of it."""

import os
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from probelet.runtime.cri import RuntimeClient
from probelet.runtime.embedded.isolation.bridge import INTERFACES, bridge_name, tag_of
from probelet.runtime.embedded.launch import launch

from tests.support.required import need_namespaces
from tests.system.process_runtime.conftest import RunningRuntime, left_of

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def _namespaces() -> None:
    need_namespaces()


@pytest.fixture
async def running(state_dir: Path) -> AsyncIterator[RunningRuntime]:
    runtime = await launch(state_dir, isolate="namespace")
    async with RuntimeClient(runtime.endpoint) as client:
        yield RunningRuntime(runtime, client)
    await runtime.aclose()


def interfaces(state_dir: Path) -> set[str]:
    """The bridge of a runtime and the machine's ends of its pairs; other runtimes have others."""
    return {entry.name for entry in INTERFACES.iterdir() if tag_of(state_dir / "runtime") in entry.name}


async def said(running: RunningRuntime, container_id: str, script: str) -> str:
    answer = await running.client.exec_sync(container_id, ["sh", "-c", script], 30)
    assert answer.exit_code == 0, answer.stderr
    return answer.stdout.decode().strip()


async def test_pods_reach_the_machine_and_each_other_and_share_nothing(running: RunningRuntime) -> None:
    one, two = await running.pod("one"), await running.pod("two")
    first, second = await one.start("sleep", "60"), await two.start("sleep", "60")
    assert one.ip != two.ip
    assert await said(running, first, "echo $POD_IP") == one.ip
    connect = "python3 -c 'import socket; socket.create_connection((\"%s\", %d), 20)'"
    host = await said(running, first, "echo $HOST_IP")
    with socket.create_server((host, 0)) as service, socket.create_server(("127.0.0.1", 0)) as hidden:
        await said(running, first, connect % (host, service.getsockname()[1]))
        answer = await running.client.exec_sync(
            first, ["sh", "-c", connect % ("127.0.0.1", hidden.getsockname()[1])], 30
        )
        assert b"ConnectionRefusedError" in answer.stderr
    serve = "python3 -m http.server 8080 >/dev/null 2>&1 & until %s; do sleep 0.05; done"
    for container_id in (first, second):
        # On lo too, which is up.
        await said(running, container_id, serve % (connect % ("127.0.0.1", 8080)) + " 2>/dev/null")
    for ip in (one.ip, two.ip):
        socket.create_connection((ip, 8080), 20).close()
    await said(running, second, connect % (one.ip, 8080))


async def test_an_address_is_free_again_when_its_pod_is_gone(running: RunningRuntime, state_dir: Path) -> None:
    before = interfaces(state_dir)
    pods = [await running.pod("one"), await running.pod("two")]
    assert len(interfaces(state_dir) - before) == 2
    for pod in pods:
        await running.client.stop_pod_sandbox(pod.id)
        await running.client.remove_pod_sandbox(pod.id)
    assert interfaces(state_dir) == before
    again = await running.pod("one")
    assert again.ip not in {pod.ip for pod in pods}


async def test_nothing_is_left_at_the_end_and_after_a_kill(state_dir: Path) -> None:
    runtime = await launch(state_dir, isolate="namespace")
    async with RuntimeClient(runtime.endpoint) as client:
        await (await RunningRuntime(runtime, client).pod()).start("sleep", "60")
        child = RunningRuntime(runtime, client).runtime_pid
    # Both are stopped first, so that neither sees the other die and cleans up.
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in (runtime.process.pid, child):
            os.kill(pid, number)
    assert left_of({runtime.process.pid, child}) == set()
    assert bridge_name(tag_of(state_dir / "runtime")) in interfaces(state_dir)
    again = await launch(state_dir)
    assert interfaces(state_dir) == set()
    await again.aclose()
    await runtime.aclose()
    third = await launch(state_dir, isolate="namespace")
    assert len(interfaces(state_dir)) == 1
    await third.aclose()
    assert interfaces(state_dir) == set()
