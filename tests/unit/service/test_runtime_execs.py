"""``serve --runtime``: the runtime carries out the exec probes of pods that were handed over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from probelet._rust import Engine
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.errors import CriError
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.execs.limits import ExecLimits
from probelet.runtime.host import RuntimeHost
from probelet.service.handed_over_pods import HandedOverPods
from probelet.service.server import prober_service
from probelet.service.view import render

from tests.unit.node.scripted_runtime import ScriptedRuntime
from tests.unit.service.caller import Caller, exec_probe, make_pod, running, until_result


@asynccontextmanager
async def served_on(
    runtime: ScriptedRuntime, folder: Path, engine: Engine, client: RuntimeClient, limits: ExecLimits | None = None
) -> AsyncIterator[tuple[HandedOverPods, Caller]]:
    host = RuntimeHost(client, engine, "node-a", exec_limits=limits)
    async with prober_service(folder / "prober.sock", host) as pods:
        caller = Caller(folder / "prober.sock")
        yield pods, caller
        await caller.channel.close()
    await host.close()
    await client.aclose()
    await runtime.stop()


async def test_the_runtime_carries_out_exec_probes(tmp_path: Path, engine: Engine) -> None:
    runtime = ScriptedRuntime()
    runtime.exec_answers["probe",] = api_pb2.ExecSyncResponse(exit_code=0)
    client = await runtime.serve(tmp_path)
    async with served_on(runtime, tmp_path, engine, client) as (pods, caller):
        changes = caller.watch_results()
        await caller.sync(make_pod(readinessProbe=exec_probe()), running("test://1"))
        await until_result(changes, ("readiness", "test://1", "SUCCESS"))
        assert runtime.called("exec_sync")[0].container_id == "1"
        assert b"probelet_execs_in_flight 0\n" in render(pods)


async def test_a_failure_that_is_no_cri_error_is_a_prober_error_and_the_probe_goes_on(
    tmp_path: Path, engine: Engine
) -> None:
    """A worker without an answer would wait for ever, with neither an event nor a line in the log."""
    broken = True

    def observe(operation: str, seconds: float, error: CriError | None) -> None:
        if broken:
            raise OSError("no space left")

    runtime = ScriptedRuntime()
    await (await runtime.serve(tmp_path)).aclose()
    client = RuntimeClient(f"unix://{tmp_path / 'cri.sock'}", observer=observe)
    async with served_on(runtime, tmp_path, engine, client) as (_, caller):
        events, changes = caller.watch_events(), caller.watch_results()
        await events.initial_metadata()
        await caller.sync(make_pod(readinessProbe=exec_probe()), running("test://1"))
        event = await events.read()
        assert event.message == "Readiness probe errored and resulted in unknown state: OSError: no space left"
        broken = False
        engine.advance(1_000_000_000)
        await until_result(changes, ("readiness", "test://1", "SUCCESS"))
        [worker] = msgspec.json.decode(engine.probe_states())
        assert (worker["runs"], worker["failures"], worker["errors"]) == (2, 0, 1)


async def test_the_limit_of_execs_in_flight_holds(tmp_path: Path, engine: Engine) -> None:
    runtime = ScriptedRuntime()
    runtime.held["exec_sync"] = asyncio.Event()
    client = await runtime.serve(tmp_path)
    limits = ExecLimits(max_in_flight=1)
    async with served_on(runtime, tmp_path, engine, client, limits) as (pods, caller):
        for uid in ("a", "b"):
            await caller.sync(make_pod(uid, livenessProbe=exec_probe()), running(f"test://{uid}"))
        assert pods.exec_counts is not None
        # The second one may wait for its turn before the first one's call has reached the runtime.
        while not (pods.exec_counts.waiting and runtime.called("exec_sync")):
            await caller.results()
        assert len(runtime.called("exec_sync")) == 1
        runtime.held["exec_sync"].set()
        while len(await caller.results()) < 2:
            pass
