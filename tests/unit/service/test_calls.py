"""The calls of the prober service, made by a client on its socket."""

import asyncio
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from probelet._rust import Engine
from probelet.base.files.unix_socket import Peer, SocketPathError
from probelet.host.engine_host import EngineHost
from probelet.service.server import prober_service
from probelet.service.uid_gate import UidGate
from probelet.service.v1 import prober_pb2 as pb

from tests.unit.service.caller import Caller, ExecResponder, exec_probe, make_pod, named, running, until_result


async def test_a_pod_is_probed_through_its_caller_and_its_status_filled(caller: Caller, engine: Engine) -> None:
    responder = ExecResponder(caller, code=0)
    pod, status = make_pod(readinessProbe=exec_probe()), running()
    first = await caller.sync(pod, status)
    assert first["containerStatuses"][0] | {"state": 0} == {
        **status["containerStatuses"][0], "state": 0, "ready": False, "started": True,
    }  # fmt: skip
    assert first["qosClass"] == "BestEffort", "a field that the prober does not read comes back unchanged"
    changes = caller.watch_results()
    await until_result(changes, ("readiness", "test://1", "SUCCESS"))
    assert responder.asked[0].argv == ["probe"]
    assert (responder.asked[0].pod_uid, responder.asked[0].container, responder.asked[0].container_id) == (
        "u",
        "app",
        "test://1",
    )
    responder.code = 1
    engine.advance(1_000_000_000)
    await until_result(changes, ("readiness", "test://1", "FAILURE"))
    assert not (await caller.sync(pod, status))["containerStatuses"][0]["ready"]
    await responder.gone()


async def test_each_result_is_sent_once_and_numbers_have_no_gap(caller: Caller) -> None:
    responder = ExecResponder(caller, code=0)
    changes = caller.watch_results()
    snapshot = await changes.read()
    assert (snapshot.sequence, snapshot.reset, snapshot.more, len(snapshot.results)) == (0, True, False, 0)
    await caller.sync(make_pod(livenessProbe=exec_probe(), readinessProbe=exec_probe()), running())
    await caller.remove_pod("u")
    numbers, removed = [], set()
    while len(removed) < 2:
        message = await changes.read()
        numbers.append(message.sequence)
        removed |= {kind for (kind, _), result in named(message.results).items() if result == "RESULT_UNSPECIFIED"}
    assert numbers == list(range(1, len(numbers) + 1))
    assert await caller.results() == {}
    await responder.gone()


async def test_a_later_watcher_first_gets_all_results(caller: Caller) -> None:
    responder = ExecResponder(caller, code=0)
    await caller.sync(make_pod(livenessProbe=exec_probe()), running())
    await until_result(caller.watch_results(), ("liveness", "test://1", "SUCCESS"))
    snapshot = await caller.watch_results().read()
    assert named(snapshot.results) == {("liveness", "test://1"): "SUCCESS"}
    assert named(snapshot.results) == await caller.results()
    await responder.gone()


async def test_without_an_exec_caller_an_exec_probe_is_an_error_that_changes_no_result(caller: Caller) -> None:
    events = caller.watch_events()
    await events.initial_metadata()
    await caller.sync(make_pod(livenessProbe=exec_probe()), running())
    event = await events.read()
    assert event.message == ("Liveness probe errored and resulted in unknown state: no caller carries out exec probes")
    assert (event.reason, event.field_path, event.pod_uid) == ("Unhealthy", "spec.containers{app}", "u")
    assert ("liveness", "test://1") not in await caller.results()


async def test_attempts_of_a_caller_that_disconnects_are_errors(caller: Caller) -> None:
    events = caller.watch_events()
    await events.initial_metadata()
    stream = caller.carry_out_execs(_never())
    await stream.initial_metadata()
    await caller.sync(make_pod(livenessProbe=exec_probe()), running())
    assert (await stream.read()).argv == ["probe"]
    stream.cancel()
    # Two more tries follow in the same run, and no caller is there to carry them out.
    assert (await events.read()).message.endswith("no caller carries out exec probes")


async def _never() -> AsyncIterator[pb.ExecAnswer]:
    await asyncio.Event().wait()
    yield pb.ExecAnswer()


async def test_a_removed_pod_leaves_no_results(caller: Caller) -> None:
    for uid in ("a", "b", "c"):
        await caller.sync(make_pod(uid, livenessProbe=exec_probe()), running(f"test://{uid}"))
    await caller.stop_liveness_and_startup("a")
    await caller.cleanup_pods("a")
    await caller.remove_pod("a")
    await caller.remove_pod_status("a")
    while await caller.results():
        pass


async def test_too_many_pods_are_refused(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probelet.service.holdings.PODS_MAX", 1)
    await caller.add_pod(make_pod("a"))
    with pytest.raises(grpc.aio.AioRpcError, match="1 pods are known already"):
        await caller.add_pod(make_pod("b"))
    await caller.remove_pod_status("a")
    await caller.add_pod(make_pod("b"))


async def test_only_this_user_may_open_the_socket(socket: Path) -> None:
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600


async def test_a_caller_of_another_user_is_refused(socket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probelet.service.uid_gate.peer_of", lambda _: Peer(pid=1, uid=4711, gid=4711))
    stranger = Caller(socket)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await stranger.results()
    assert refused.value.code() == grpc.StatusCode.UNAVAILABLE
    await stranger.channel.close()


async def test_a_connection_above_the_limit_is_refused(tmp_path: Path, engine: Engine) -> None:
    async with prober_service(tmp_path / "s", EngineHost(engine, "node-a"), connections=0):
        late = Caller(tmp_path / "s")
        with pytest.raises(grpc.aio.AioRpcError):
            await late.results()
        await late.channel.close()


async def test_a_socket_with_a_listener_is_not_replaced(socket: Path) -> None:
    with pytest.raises(SocketPathError, match="a process listens on this socket"):
        async with UidGate(socket, socket):
            pass


async def test_a_socket_without_a_listener_is_replaced_and_a_file_is_not(tmp_path: Path) -> None:
    abandoned, file = tmp_path / "prober.sock", tmp_path / "file"
    async with UidGate(abandoned, tmp_path / "inner"):
        abandoned.rename(tmp_path / "kept")
    (tmp_path / "kept").rename(abandoned)
    async with UidGate(abandoned, tmp_path / "inner"):
        pass
    file.write_text("mine")
    with pytest.raises(SocketPathError, match="exists and is not a socket"):
        async with UidGate(file, tmp_path / "inner"):
            pass
    assert file.read_text() == "mine"


async def test_a_service_that_ends_leaves_no_socket(tmp_path: Path) -> None:
    engine = Engine(glue=False)
    async with prober_service(tmp_path / "s", EngineHost(engine, "node-a")):
        assert (tmp_path / "s").exists()
    assert list(tmp_path.iterdir()) == []
    engine.close()
