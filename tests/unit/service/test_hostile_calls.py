"""Whatever a caller sends: an answer, or a refusal that names the field. Never UNKNOWN or INTERNAL, nor a traceback."""

import asyncio
import json
import logging
import random
import socket as sockets
from collections.abc import AsyncIterator, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import grpc
import pytest
from probelet._rust import Engine
from probelet.base.files.unix_socket import Peer
from probelet.host.engine_host import EngineHost
from probelet.service.caller_execs import CallerExecs
from probelet.service.limit import CONTAINERS_MAX, DESIRED_MAX, NAME_BYTES_MAX, OBJECT_BYTES_MAX
from probelet.service.server import OPTIONS, SERVICE, prober_service
from probelet.service.v1 import prober_pb2 as pb

from tests.unit.service.caller import Caller, exec_probe, make_pod, running


@pytest.fixture(autouse=True)
def _no_traceback(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


async def refusal(call: Any) -> tuple[str, str]:
    """Code and message of a call's end."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error.code().name, error.details() or ""
    return "OK", ""


def raw(caller: Caller, name: str, request: bytes) -> Any:
    """A call with any bytes as its request."""
    return caller.channel.unary_unary(f"/{SERVICE.full_name}/{name}")(request)


def add(caller: Caller, pod: bytes) -> Any:
    return raw(caller, "AddPod", pb.AddPodRequest(pod=pod).SerializeToString())


def set_status(caller: Caller, status: bytes) -> Any:
    return raw(caller, "SetPodStatus", pb.SetPodStatusRequest(pod_uid="u", status=status).SerializeToString())


def terminated(code: int) -> bytes:
    row = {"name": "app", "state": {"terminated": {"exitCode": code}}}
    return json.dumps({"containerStatuses": [row]}).encode()


def started(at: str) -> bytes:
    return json.dumps({"containerStatuses": [{"name": "a", "state": {"running": {"startedAt": at}}}]}).encode()


EXIT = "status.containerStatuses[0].state.terminated.exitCode: "
START = "status.containerStatuses[0].state.running.startedAt: "


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (b'{"phase": "\xff"}', "status: not JSON: "),
        (b"\xff\xfe", "status: not JSON: "),
        (b'{"phase": "\\ud800"}', "status: not JSON: "),
        (b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "status: nested too deeply"),
        (b'{"phase": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"}", "status: nested too deeply"),
        (b'{"containerStatuses": ' + b"[" * 700 + b"]" * 700 + b"}", "status.containerStatuses[0]: "),
        (b'{"x": ' + b"9" * 10_000 + b"}", "status: not JSON: "),
        (b'{"x": 1e999}', "status: not JSON: "),
        (b"[]", "status: must be a JSON object"),
        (b"", "status: not JSON: "),
        (terminated(2**31), EXIT),
        (terminated(-(2**31) - 1), EXIT),
        (terminated(10**40), EXIT),
        (started("0001-01-01T00:00:00+14:00"), START),
        (started("9999-12-31T23:59:59-14:00"), START),
        (started("2026-01-01"), START),
        (started("2026-01-01T00:00:00"), START),
        (json.dumps({"podIP": "1" * (NAME_BYTES_MAX + 1)}).encode(), "status.podIP: Invalid value: "),
        (json.dumps({"containerStatuses": [{"name": "a"}] * (CONTAINERS_MAX + 1)}).encode(), "status.containerStat"),
        (json.dumps({"phase": "é" * 10_000}).encode(), "status.phase: Unsupported value: "),
        (b'{"x": "' + b"a" * OBJECT_BYTES_MAX + b'"}', "status: Too long: "),
    ],
)
async def test_a_status_that_makes_no_sense_is_refused_with_its_field(caller: Caller, status: bytes, said: str) -> None:
    code, details = await refusal(set_status(caller, status))
    assert code == "INVALID_ARGUMENT"
    assert details.startswith(said)


@pytest.mark.parametrize("code", [2**31 - 1, -(2**31), 0, 255])
async def test_every_exit_code_of_the_api_is_taken(caller: Caller, code: int) -> None:
    assert await refusal(set_status(caller, terminated(code))) == ("OK", "")


def dumped(**spec: Any) -> bytes:
    return json.dumps({"metadata": {"uid": "u"}, "spec": spec}).encode()


LONG = "x" * (NAME_BYTES_MAX + 1)
BOMB = {"env": [{"name": "A", "value": "v" * 2_000}], "livenessProbe": exec_probe(exec={"command": ["$(A)" * 1_000]})}


@pytest.mark.parametrize(
    ("pod", "said"),
    [
        (b'{"metadata": {"uid": "\xff"}}', "pod: not JSON: "),
        (b'{"metadata": {"uid": "u"}, "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "pod: nested deeper"),
        (b'{"spec": {"containers": ' + b"[" * 300 + b"]" * 300 + b"}}", "pod: "),
        (b"null", "pod: "),
        (b"7", "pod: "),
        (json.dumps({"metadata": {"uid": LONG}}).encode(), "metadata.uid: Invalid value: "),
        (json.dumps({"metadata": {"uid": "u", "name": LONG}}).encode(), "metadata.name: Invalid value: "),
        (dumped(restartPolicy="Sometimes"), "spec.restartPolicy: Unsupported value: "),
        (dumped(containers=[{"name": LONG}]), "spec.containers[0].name: Invalid value: "),
        (dumped(containers=[{"restartPolicy": "x"}]), "spec.containers[0].restartPolicy: Unsupported value: "),
        (dumped(containers=[{"restartPolicyRules": [{}]}]), "spec.containers[0].restartPolicyRules[0].action: "),
        (
            dumped(containers=[{"restartPolicyRules": [{"action": "Restart", "exitCodes": {}}]}]),
            "spec.containers[0].restartPolicyRules[0].exitCodes.operator: ",
        ),
        (dumped(containers=[{}] * (CONTAINERS_MAX + 1)), "spec.containers: Too many: "),
        (dumped(containers=[{"ports": [{"containerPort": 2**31}]}]), "spec.containers[0].ports[0].containerPort: "),
        (
            dumped(containers=[{"livenessProbe": {"periodSeconds": 10**30}}]),
            "spec.containers[0].livenessProbe.periodSeconds: ",
        ),
        (dumped(containers=[BOMB]), "pod: spec: the variables "),
        (b'{"x": "' + b"a" * OBJECT_BYTES_MAX + b'"}', "pod: Too long: "),
        (
            dumped(containers=[{"livenessProbe": {"timeoutSeconds": "x"}}], nodeSelector="n" * 100_000),
            "spec.containers[0].livenessProbe.timeoutSeconds: ",
        ),
    ],
)
async def test_a_pod_that_makes_no_sense_is_refused_with_its_field(caller: Caller, pod: bytes, said: str) -> None:
    code, details = await refusal(add(caller, pod))
    assert code == "INVALID_ARGUMENT"
    assert details.startswith(said), details


async def test_a_large_pod_with_nulls_is_taken(caller: Caller) -> None:
    pod = dumped(containers=[{"name": "a", "ports": None, "env": None}], nodeSelector="n" * 100_000, volumes=None)
    assert await refusal(add(caller, pod)) == ("OK", "")


async def test_a_refusal_of_many_mistakes_is_short_and_printable(caller: Caller) -> None:
    containers = [{"name": f"\x1b[2J\n{number}é" * 40, "restartPolicy": "\x1b]0;é\x07"} for number in range(200)]
    code, details = await refusal(add(caller, dumped(containers=containers)))
    assert code == "INVALID_ARGUMENT"
    assert details.endswith("more mistakes") or len(details.encode()) > 2_000
    assert all(line.isprintable() for line in details.splitlines())


@pytest.mark.parametrize("method", [method.name for method in SERVICE.methods if not method.client_streaming])
async def test_a_request_that_is_no_message_is_refused(caller: Caller, method: str) -> None:
    request = b"\x0a\xff\xff\xff\xff"
    if SERVICE.methods_by_name[method].server_streaming:
        stream = caller.channel.unary_stream(f"/{SERVICE.full_name}/{method}")(request)
        code, details = await refusal(stream.read())
    else:
        code, details = await refusal(raw(caller, method, request))
    assert (code, details.partition(":")[0]) == ("INVALID_ARGUMENT", f"not a probelet.v1.{method}Request")


async def test_an_answer_that_is_no_message_ends_its_stream_alone(caller: Caller) -> None:
    stream = caller.channel.stream_stream(f"/{SERVICE.full_name}/CarryOutExecs")(_sent(b"\xff\xff\xff"))
    code, details = await refusal(stream.read())
    assert (code, details.partition(":")[0]) == ("INVALID_ARGUMENT", "not a probelet.v1.ExecAnswer")
    assert await caller.results() == {}


async def _sent(*messages: bytes) -> AsyncIterator[bytes]:
    for message in messages:
        yield message
    await asyncio.Event().wait()


async def test_too_many_desired_pods_are_refused(caller: Caller) -> None:
    code, details = await refusal(caller.cleanup_pods(*[""] * (DESIRED_MAX + 1)))
    assert (code, details.partition(":")[0]) == ("INVALID_ARGUMENT", "desired_pod_uids")


EVIL: list[Any] = [
    None, True, 0, -1, 1, 2**31, -(2**31) - 1, 2**63, 10**30, 1e308, 0.5, "", "a", "\0", "\ud7ff", "A" * 9_000, "é\r\n",
    "0001-01-01T00:00:00+14:00", "2026-W01", "65536", "::1", "%zz", [], {}, [None], [[]], [{}], {"a": 1}, ["a"] * 300,
]  # fmt: skip
BASE = make_pod(livenessProbe=exec_probe(), readinessProbe={"httpGet": {"port": "web"}, "periodSeconds": 5})
BASE["spec"]["initContainers"] = [{"name": "i", "restartPolicy": "Always", "env": [{"name": "A", "value": "b"}]}]
BASE["status"] = {"conditions": [{"type": "Ready", "status": "True"}]}
STATUS = running(ready=False, started=True) | {"podIPs": [{"ip": "127.0.0.1"}]}


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        yield from places(member, (*at, key))


def mutated(dice: random.Random, value: Any) -> bytes:
    value = deepcopy(value)
    for _ in range(dice.choice((1, 1, 2, 3))):
        [*parents, last] = dice.choice([place for place in places(value) if place])
        member = value
        for key in parents:
            member = member[key]
        member[last] = dice.choice(EVIL)
    text = bytearray(json.dumps(value).encode())
    for _ in range(dice.choice((0, 0, 0, 1, 4))):
        text[dice.randrange(len(text))] = dice.randrange(256)
    return bytes(text)


@pytest.mark.parametrize("seed", range(8))
async def test_no_mutation_of_a_call_is_the_services_own_error(caller: Caller, seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        pod, status = mutated(dice, BASE), mutated(dice, STATUS)
        both = pb.UpdatePodStatusRequest(pod=pod, status=status).SerializeToString()
        for call in (add(caller, pod), set_status(caller, status), raw(caller, "UpdatePodStatus", both)):
            code, details = await refusal(call)
            assert code in ("OK", "INVALID_ARGUMENT"), (code, details, pod, status)
            assert code == "OK" or ": " in details, details


async def test_an_exec_caller_that_leaves_takes_its_tasks_along(engine: Engine) -> None:
    """asyncio logs an error for a task that is destroyed while it waits."""
    execs, before = CallerExecs(engine), asyncio.all_tasks()
    waiting = asyncio.ensure_future(anext(execs.serve(_nothing())))
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(asyncio.all_tasks() - before) >= 2
    waiting.cancel()
    for _ in range(10):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def _nothing() -> AsyncIterator[pb.ExecAnswer]:
    await asyncio.Event().wait()
    yield pb.ExecAnswer()


async def test_when_the_last_exec_caller_leaves_the_one_before_is_asked_again(caller: Caller) -> None:
    first, second = caller.carry_out_execs(_nothing()), caller.carry_out_execs(_nothing())
    await first.initial_metadata()
    await second.initial_metadata()
    second.cancel()
    while len(await caller.results()) or not second.done():
        pass
    await caller.sync(make_pod(livenessProbe=exec_probe()), running())
    assert (await first.read()).argv == ["probe"]
    first.cancel()


async def test_only_the_caller_that_was_asked_can_answer(caller: Caller) -> None:
    answers: asyncio.Queue[pb.ExecAnswer] = asyncio.Queue()

    async def sent() -> AsyncIterator[pb.ExecAnswer]:
        while True:
            yield await answers.get()

    stranger = caller.carry_out_execs(sent())
    await stranger.initial_metadata()
    asked = caller.carry_out_execs(_nothing())
    await asked.initial_metadata()
    await caller.sync(make_pod(livenessProbe=exec_probe(failureThreshold=1)), running())
    attempt = await asked.read()
    for _ in range(3):
        answers.put_nowait(pb.ExecAnswer(run=attempt.run, exit=pb.Exit(code=1)))
    # The initial liveness result is a success; the stranger's answer would make it a failure.
    for _ in range(50):
        assert ("liveness", "test://1") not in await caller.results() or "FAILURE" not in (
            await caller.results()
        ).values()
    asked.cancel()
    stranger.cancel()


async def test_one_process_cannot_take_every_connection(socket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probelet.service.uid_gate.PROCESS_SHARE", 32)
    held = [await asyncio.open_unix_connection(str(socket)) for _ in range(3)]
    assert await held[2][0].read() == b"", "the third connection is closed"
    monkeypatch.setattr("probelet.service.uid_gate.peer_of", lambda _: Peer(pid=1, uid=0, gid=0))
    other = Caller(socket)
    assert await other.results() == {}
    await other.channel.close()
    for _, writer in held:
        writer.close()


async def test_a_storm_of_connections_takes_one_descriptor_at_a_time(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []

    def counted(_: object) -> Peer:
        taken.append(accepted_at(tmp_path / "s"))
        return Peer(pid=1, uid=0, gid=0)

    monkeypatch.setattr("probelet.service.uid_gate.peer_of", counted)
    async with prober_service(tmp_path / "s", EngineHost(engine, "node-a"), connections=0):
        callers = [sockets.socket(sockets.AF_UNIX) for _ in range(60)]
        for caller in callers:
            caller.connect(str(tmp_path / "s"))
        for caller in callers:
            reader, writer = await asyncio.open_unix_connection(sock=caller)
            assert await reader.read() == b""
            writer.close()
    assert taken == [1] * 60


def accepted_at(path: Path) -> int:
    """How many descriptors of this process are accepted connections of the socket at ``path``.

    Threads of gRPC open descriptors of their own at any time, so the test does not count all of the process's.
    """
    rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()]
    connected = "03"
    at_path = {row[6] for row in rows if row[7:] == [str(path)] and row[5] == connected}
    return sum(_inode(link) in at_path for link in Path("/proc/self/fd").iterdir())


def _inode(descriptor: Path) -> str:
    """The inode of a socket; empty for a descriptor that was closed meanwhile."""
    try:
        return str(descriptor.readlink()).removeprefix("socket:[").removesuffix("]")
    except OSError:
        return ""


async def test_a_connection_that_says_nothing_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = (*(option for option in OPTIONS if "handshake" not in option[0]), ("grpc.server_handshake_timeout_ms", 100))
    monkeypatch.setattr("probelet.service.server.OPTIONS", short)
    assert len(short) == len(OPTIONS)
    engine = Engine(glue=False)
    async with prober_service(tmp_path / "s", EngineHost(engine, "node-a")):
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / "s"))
        while await asyncio.wait_for(reader.read(1000), 10):
            pass
        writer.close()
    engine.close()


@pytest.mark.parametrize("method", ["WatchResults", "WatchEvents", "CarryOutExecs"])
async def test_one_stream_too_many_is_refused(caller: Caller, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr("probelet.service.reader.READERS_MAX", 1)
    monkeypatch.setattr("probelet.service.caller_execs.READERS_MAX", 1)
    path = f"/{SERVICE.full_name}/{method}"

    def opened() -> Any:
        if method == "CarryOutExecs":
            return caller.channel.stream_stream(path)(_sent())
        return caller.channel.unary_stream(path)(b"")

    first, second = opened(), None
    await first.initial_metadata()
    while second is None or not second.done():
        second = opened()
        code, _ = await refusal(asyncio.wait_for(second.read(), 10))
    assert code == "RESOURCE_EXHAUSTED"
    first.cancel()


async def test_calls_at_once_are_limited(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probelet.service.server.NODE_CALLS_MAX", 1)
    async with prober_service(tmp_path / "s", EngineHost(engine, "node-a")):
        caller = Caller(tmp_path / "s")
        held = caller.watch_results()
        await held.read()
        assert (await refusal(caller.results()))[0] == "RESOURCE_EXHAUSTED"
        held.cancel()
        await caller.channel.close()


async def test_calls_at_once_on_a_connection_are_limited(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = tuple((name, 1 if name == "grpc.max_concurrent_streams" else value) for name, value in OPTIONS)
    assert one != OPTIONS
    monkeypatch.setattr("probelet.service.server.OPTIONS", one)
    async with prober_service(tmp_path / "s", EngineHost(engine, "node-a")):
        caller = Caller(tmp_path / "s")
        held = caller.watch_results()
        await held.read()
        late = caller.channel.unary_unary(f"/{SERVICE.full_name}/ListResults")(b"", timeout=0.2)
        assert (await refusal(late))[0] == "DEADLINE_EXCEEDED", "the client waits until its stream ends"
        held.cancel()
        await caller.channel.close()
