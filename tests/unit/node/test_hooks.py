"""Lifecycle hooks on a scripted runtime and on real loopback sockets."""

import asyncio
import re
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from probelet.policy.messages import PLAIN_HTTP_ANSWER
from probelet.policy.protocol.effects import RunHook
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen import hooks as hooks_module
from probelet.runtime.seen.hook_slots import PER_POD_MAX, SHARED_MAX
from probelet.runtime.seen.hooks import Hooks
from probelet.spec.model.container import Container, LifecycleHandler

from tests.unit.node.scripted_node import ScriptedNode, make_manifest
from tests.unit.node.scripted_runtime import ScriptedRuntime

Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def server(answer: bytes) -> AsyncIterator[tuple[int, list[bytes]]]:
    """An HTTP server that gives ``answer`` to every request; yields its port and the requests."""
    requests: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.read(4096))
        writer.write(answer)
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield listening.sockets[0].getsockname()[1], requests


def hooks(node: ScriptedNode) -> Hooks:
    return Hooks(node.client, "kube-lifecycle/1.36")


def hook(handler: dict[str, Any], **container: Any) -> RunHook:
    app = msgspec.convert({"name": "app", **container}, Container)
    return RunHook(app, "scripted://c1", "preStop", msgspec.convert(handler, LifecycleHandler), 5)


async def test_an_exec_hook_is_run_without_a_time_limit(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    outcome = await hooks(node).run(hook({"exec": {"command": ["bye"]}}), "u1", "127.0.0.1")
    assert outcome.error == ""
    (request,) = runtime.called("exec_sync")
    assert (request.container_id, list(request.cmd), request.timeout) == ("c1", ["bye"], 0)


async def test_an_http_hook_speaks_http1_whatever_its_protocol_field(node: ScriptedNode) -> None:
    async with server(b"HTTP/1.1 204 No Content\r\n\r\n") as (port, requests):
        outcome = await hooks(node).run(
            hook({"httpGet": {"port": port, "path": "/", "protocol": "HTTP2"}}), "u1", "127.0.0.1"
        )
    assert outcome.error == ""
    assert requests[0].startswith(b"GET / HTTP/1.1\r\n")


async def test_an_exec_hook_that_exits_nonzero_fails_with_the_kubelets_text(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    runtime.exec_answers["sh", "-c", "x"] = api_pb2.ExecSyncResponse(exit_code=3, stdout=b"out", stderr=b"err\xff")
    outcome = await hooks(node).run(hook({"exec": {"command": ["sh", "-c", "x"]}}), "u1", "127.0.0.1")
    assert outcome.error == "command 'sh -c x' exited with 3: err\N{REPLACEMENT CHARACTER}"
    assert outcome.detail == "outerr\N{REPLACEMENT CHARACTER}"


async def test_an_exec_hook_that_cannot_be_run_fails_with_the_runtimes_error(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    runtime.refuse["exec_sync"] = errors.RuntimeRefused("no such program")
    outcome = await hooks(node).run(hook({"exec": {"command": ["x"]}}), "u1", "127.0.0.1")
    assert (outcome.error, outcome.detail) == ("rpc error: code = Unknown desc = no such program", "")


@pytest.mark.parametrize("status", ["200 OK", "302 Found", "404 Not Found", "500 Internal Server Error"])
async def test_an_http_hook_succeeds_with_any_answer(node: ScriptedNode, status: str) -> None:
    async with server(f"HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nno".encode()) as (port, requests):
        handler = {"httpGet": {"path": "/bye?x=1", "port": "web", "scheme": "HTTP"}}
        ports = [{"name": "web", "containerPort": port}]
        outcome = await hooks(node).run(hook(handler, ports=ports), "u1", "127.0.0.1")
        assert (outcome.error, outcome.id) == ("", f"127.0.0.1:{port}")
    assert requests[0].startswith(b"GET /bye?x=1 HTTP/1.1\r\n")
    assert b"\r\nUser-Agent: kube-lifecycle/1.36\r\n" in requests[0]


async def test_an_http_hook_without_an_answer_fails_with_gos_text(node: ScriptedNode) -> None:
    async with server(b"") as (port, _):
        handler = {"httpGet": {"path": "/", "port": port, "host": "127.0.0.1", "scheme": "HTTP"}}
        outcome = await hooks(node).run(hook(handler), "u1", "")
    assert outcome.error == f'Get "http://127.0.0.1:{port}/": EOF'
    refused = await hooks(node).run(hook(handler), "u1", "")
    assert refused.error.endswith("connect: connection refused")


async def test_an_https_hook_of_a_plain_http_server_fails_with_the_text_that_policy_looks_for(
    node: ScriptedNode,
) -> None:
    async with server(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") as (port, _):
        handler = {"httpGet": {"path": "/", "port": port, "scheme": "HTTPS"}}
        outcome = await hooks(node).run(hook(handler), "u1", "127.0.0.1")
    assert PLAIN_HTTP_ANSWER in outcome.error


async def test_an_http_hook_of_a_pod_without_an_address_fails(node: ScriptedNode) -> None:
    outcome = await hooks(node).run(hook({"httpGet": {"path": "/", "port": 1, "scheme": "HTTP"}}), "u1", "")
    assert outcome.error.startswith("failed to find networking container")


async def test_hooks_that_hang_hold_up_no_other_pod(node: ScriptedNode) -> None:
    """One pod with more hooks than may run at once, of which none ends."""
    silent = socket.create_server(("127.0.0.1", 0), backlog=1024)
    never = hook({"httpGet": {"path": "/", "port": silent.getsockname()[1], "scheme": "HTTP"}})
    of_node = hooks(node)
    hanging = [asyncio.ensure_future(of_node.run(never, "u1", "127.0.0.1")) for _ in range(SHARED_MAX + 10)]
    await node.round_trip()
    assert threads() == 1 + PER_POD_MAX
    async with server(b"HTTP/1.1 204 No Content\r\n\r\n") as (port, requests):
        handler = {"httpGet": {"path": "/", "port": port, "scheme": "HTTP"}}
        outcomes = await asyncio.gather(*(of_node.run(hook(handler), f"u{pod}", "127.0.0.1") for pod in range(2, 5)))
    assert [outcome.error for outcome in outcomes] == [""] * 3
    assert len(requests) == 3
    for task in hanging:
        task.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)
    # A thread that goes on keeps its slot.
    late = asyncio.ensure_future(of_node.run(never, "u1", "127.0.0.1"))
    await node.round_trip()
    assert threads() == 1 + PER_POD_MAX
    silent.close()
    await node.until(lambda: late.done() and threads() == 0)
    assert late.result().error


def threads() -> int:
    return sum(thread.name == "http hook" for thread in threading.enumerate())


async def test_a_thread_that_cannot_start_is_no_failure_of_the_hook(
    node: ScriptedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, tries = threading.Thread.start, 0

    def refuse_once(thread: threading.Thread) -> None:
        nonlocal tries
        tries += thread.name == "http hook"
        if tries == 1:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse_once)
    monkeypatch.setattr(hooks_module, "THREAD_RETRY_SECONDS", 0)
    async with server(b"HTTP/1.1 204 No Content\r\n\r\n") as (port, _):
        handler = {"httpGet": {"path": "/", "port": port, "scheme": "HTTP"}}
        outcome = await hooks(node).run(hook(handler), "u1", "127.0.0.1")
    assert (outcome.error, tries) == ("", 2)


# The whole node.

EXEC = {"exec": {"command": ["probe"]}, "periodSeconds": 1, "failureThreshold": 1}


def hooked(**fields: Any) -> dict[str, Any]:
    return {"name": "app", "image": "i", **fields}


async def test_no_probe_runs_while_a_post_start_hook_runs(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    runtime.held["exec_sync"] = asyncio.Event()
    lifecycle = {"postStart": {"exec": {"command": ["warm-up"]}}}
    node.service.pods.set([make_manifest(containers=[hooked(lifecycle=lifecycle, readinessProbe=EXEC)])])
    await node.until(lambda: runtime.called("exec_sync"))
    for _ in range(200):
        await node.client.version()
    assert (node.container()["state"], node.pod()["phase"]) == ("waiting", "Pending")
    assert [list(request.cmd) for request in runtime.called("exec_sync")] == [["warm-up"]]
    runtime.held["exec_sync"].set()
    await node.until(lambda: node.pod()["ready"])
    assert [list(request.cmd) for request in runtime.called("exec_sync")][:2] == [["warm-up"], ["probe"]]


async def test_a_failed_post_start_hook_kills_its_container_and_is_counted(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    runtime.exec_answers["warm-up",] = api_pb2.ExecSyncResponse(exit_code=1)
    lifecycle = {"postStart": {"exec": {"command": ["warm-up"]}}}
    node.service.pods.set([make_manifest(containers=[hooked(lifecycle=lifecycle)])])
    await node.until(lambda: runtime.called("stop_container"))
    assert node.messages("FailedPostStartHook") == ["PostStartHook failed"]
    assert node.messages("Killing") == ["FailedPostStartHook"]
    assert runtime.called("stop_container")[0].timeout == 30
    await node.until(lambda: b'reason="post_start_hook",grace_source="pod"' in node.service.view.metrics())


async def test_a_pre_stop_hook_ends_before_the_stop_signal_is_sent(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    lifecycle = {"preStop": {"exec": {"command": ["bye"]}}}
    node.service.pods.set([make_manifest(containers=[hooked(lifecycle=lifecycle)])])
    await node.until(lambda: node.pod().get("ready"))
    runtime.held["exec_sync"] = asyncio.Event()
    node.service.pods.set([])
    await node.until(lambda: runtime.called("exec_sync"))
    assert runtime.called("stop_container") == []
    runtime.held["exec_sync"].set()
    await node.until(lambda: not runtime.sandboxes)
    order = [rpc for rpc, _ in runtime.calls if rpc in ("exec_sync", "stop_container")]
    assert order == ["exec_sync", "stop_container"]


async def test_a_hook_that_outlives_its_pod_disturbs_no_other_pod(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    lifecycle = {"preStop": {"exec": {"command": ["bye"]}}}
    spec = {"containers": [hooked(lifecycle=lifecycle)], "terminationGracePeriodSeconds": 1}
    node.service.pods.set([make_manifest(**spec)])
    await node.until(lambda: node.pod().get("ready"))
    runtime.held["exec_sync"] = asyncio.Event()
    node.service.pods.set([])
    await node.until(lambda: not node.service.view.status().document()["pods"])
    runtime.held["exec_sync"].set()
    node.service.pods.set([make_manifest()])
    await node.until(lambda: node.pod().get("ready"))
    assert node.messages("FailedPreStopHook") == []


async def test_containers_get_their_address_expanded_on_the_host_only(
    node: ScriptedNode, runtime: ScriptedRuntime
) -> None:
    container = hooked(command=["serve", "$(POD_IP)"], env=[{"name": "ME", "value": "$(POD_IP)"}])
    node.service.pods.set([make_manifest(containers=[container])])
    await node.until(lambda: node.pod().get("ready"))
    config = runtime.called("create_container")[0].config
    assert list(config.command) == ["serve", "$(POD_IP)"], "a kubelet sets no POD_IP"
    assert re.fullmatch(r"\$\(POD_IP\)", config.envs[0].value.decode())
