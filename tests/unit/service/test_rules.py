"""The node's options hold for pods that callers hand over as they hold for its own."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import msgspec
import pytest
from probelet._rust import Engine
from probelet.config import Gates
from probelet.host.engine_host import EngineHost
from probelet.service.pod import check_pod
from probelet.service.rules import Rules
from probelet.service.server import prober_service

from tests.unit.service.caller import Caller, ExecResponder, exec_probe, make_pod, running

Serve = Callable[[Rules], Any]
PERIOD = {"periodSeconds": 1, "timeoutSeconds": 1}


@pytest.fixture
async def serve(tmp_path: Path, engine: Engine) -> AsyncIterator[Serve]:
    """Serves the engine by some rules, and gives a caller."""
    async with AsyncExitStack() as stack:

        async def start(rules: Rules) -> Caller:
            await stack.enter_async_context(prober_service(tmp_path / "s", EngineHost(engine, "node-a"), rules=rules))
            caller = Caller(tmp_path / "s")
            stack.push_async_callback(caller.channel.close)
            return caller

        yield start


def hosts(kind: str, handler: dict[str, Any]) -> dict[str, Any]:
    hook = {"lifecycle": {"preStop": handler}}
    return make_pod(**({f"{kind}Probe": {**handler, **PERIOD}} if kind != "hook" else hook))


@pytest.mark.parametrize("field", ["httpGet", "tcpSocket"])
@pytest.mark.parametrize("kind", ["liveness", "readiness", "startup", "hook"])
async def test_a_host_that_is_denied_comes_in_by_no_call(serve: Serve, engine: Engine, kind: str, field: str) -> None:
    caller = await serve(Rules(deny_hosts=True))
    handler = {field: {"port": 80, "host": "169.254.169.254"}}
    pod = hosts(kind, handler)
    init = {"metadata": pod["metadata"], "spec": {"initContainers": pod["spec"]["containers"]}}
    for denied in (pod, init):
        for call in (caller.add_pod(denied), caller.update_pod_status(denied, {})):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
            assert f"{field}.host: Forbidden: violates PodSecurity" in str(refused.value.details())
    assert msgspec.json.decode(engine.probe_states()) == []


async def test_a_header_host_is_no_host_to_connect_to(serve: Serve) -> None:
    caller = await serve(Rules(deny_hosts=True))
    get = {"port": 80, "host": "", "httpHeaders": [{"name": "Host", "value": "example.org"}]}
    await caller.add_pod(make_pod(livenessProbe={"httpGet": get, **PERIOD}))


async def test_hosts_are_allowed_unless_denied(serve: Serve) -> None:
    caller = await serve(Rules())
    await caller.add_pod(hosts("liveness", {"tcpSocket": {"port": 80, "host": "127.0.0.1"}}))


@pytest.mark.parametrize(
    ("wording", "said"), [("kubelet", "Liveness probe failed: said"), ("counted", "(1 of 3): said")]
)
async def test_the_configuration_words_the_events_of_callers(serve: Serve, wording: Any, said: str) -> None:
    caller = await serve(Rules(event_wording=wording))
    responder = ExecResponder(caller, code=1)
    events = caller.watch_events()
    await events.initial_metadata()
    await caller.sync(make_pod(livenessProbe=exec_probe(failureThreshold=3)), running())
    assert (await events.read()).message.endswith(said)
    await responder.gone()


@pytest.mark.parametrize(("on", "left"), [(True, b'"mode":"TLS"'), (False, b'"service":"s"}')])
def test_a_field_whose_gate_is_off_does_not_reach_the_engine(on: bool, left: bytes) -> None:
    pod = make_pod(livenessProbe={"grpc": {"port": 80, "service": "s", "mode": "TLS"}, **PERIOD})
    rules = Rules(gates=Gates("1.37", {"GRPCContainerProbeTLS": on}))
    assert left in check_pod(msgspec.json.encode(pod), rules).document
