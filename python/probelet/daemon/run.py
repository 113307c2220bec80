"""Builds and runs the parts of ``run``: runtime, service, pages, control socket."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog

from probelet.base.files.unix_socket import SocketPathError
from probelet.base.logs.kept import KeptLogs
from probelet.config.document import config_document
from probelet.config.kubelet import log_limits, parallel_pulls
from probelet.config.load import Config
from probelet.daemon.descriptors import Descriptors
from probelet.daemon.engine import node_engine
from probelet.daemon.error import DaemonError
from probelet.daemon.execs import direct_execs, exec_limits, share_helper
from probelet.daemon.gate import restart_gate
from probelet.daemon.oom_score import apply_oom_score
from probelet.daemon.readers import warn_of_readers
from probelet.daemon.rules import rules
from probelet.daemon.signals import Lifetime
from probelet.daemon.systemd import READY, STOPPING, Supervisor
from probelet.node.effects.logs.upkeep import LogUpkeep
from probelet.node.service import Service
from probelet.node.source.watch import Manifests
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.errors import CriError
from probelet.runtime.embedded.launch import EmbeddedRuntime, Isolation, LaunchError, launch
from probelet.runtime.seen.runtime_calls import RuntimeCalls
from probelet.server.address import Listening
from probelet.server.control.server import ControlServer
from probelet.server.pages.server import HttpServer
from probelet.service.handed_over_pods import HandedOverPods
from probelet.service.server import served
from probelet.spec.read.load import Manifest
from probelet.spec.text.duration import SECOND

# The value of `--runtime` for the embedded runtime.
PROCESS = "process"

log = structlog.get_logger("probelet.run")


@dataclass(frozen=True)
class Plan:
    """The options of the command line. ``seconds`` limits the run; None means until a signal.

    ``drain``: the pods end with the service. ``root``: where the files of pods are on a CRI runtime. ``serve``: the
    socket for another node agent's pods, if any.
    """

    configuration: Config
    manifests: Manifests
    first: list[Manifest]
    runtime: str
    isolate: Isolation
    node: str
    seconds: float | None
    drain: bool
    root: Path
    serve: Path | None
    descriptors: Descriptors


@dataclass(frozen=True)
class Ended:
    """The end of a run. ``pods_left``: names of the pods that could not be ended. ``hurried_by``: the signal that cut
    the drain short."""

    pods_left: tuple[str, ...] = ()
    hurried_by: signal.Signals | None = None


def carry_out(plan: Plan, state_dir: Path, listening: Listening) -> Ended:
    """Runs the pods until the plan ends. Raises DaemonError if the run cannot start or one of its parts dies."""
    apply_oom_score(plan.configuration)
    try:
        return asyncio.run(_run(plan, state_dir, listening))
    except (CriError, LaunchError) as error:
        raise DaemonError(str(error)) from error


async def _run(plan: Plan, state_dir: Path, listening: Listening) -> Ended:
    async with AsyncExitStack() as stack:
        lifetime = stack.enter_context(Lifetime())
        runtime, endpoint, kept_logs = await _runtime(plan, state_dir, stack)
        log_root = Path(plan.configuration.kubelet.pod_logs_dir) if kept_logs is None else kept_logs.root
        timeout = plan.configuration.kubelet.runtime_request_timeout / SECOND
        calls = RuntimeCalls()
        client = RuntimeClient(endpoint, request_timeout=timeout, observer=calls.note)
        await stack.enter_async_context(client)
        service = await stack.enter_async_context(_service(plan, client, calls, log_root, kept_logs, state_dir))
        await stack.enter_async_context(_pages(service, listening, state_dir, plan.descriptors))
        log.info("listening", url=listening.address.url("/statusz"), state_dir=str(state_dir), logs=str(log_root))
        warn_of_readers(listening, log)
        await stack.enter_async_context(_handed_over(plan, service))
        plan.manifests.announce()
        service.pods.set(plan.first)
        # An embedded runtime begins without pods.
        has_doubtful = runtime is None and plan.manifests.mistakes.total > 0
        if has_doubtful:
            log.warning("pods without a manifest stay until no manifest has a mistake")
        else:
            await service.remove_orphans()
        supervisor = Supervisor()
        supervisor.tell(READY)
        await stack.enter_async_context(_signs_of_life(supervisor, service))
        work = [_service_died(service), plan.manifests.follow(service.pods.set, service.timers)]
        if has_doubtful:
            work.append(service.remove_orphans_later(plan.manifests.right))
        if runtime is not None:
            work.append(_runtime_died(runtime))
        reason = await lifetime.wait(plan.seconds, *work)
        supervisor.tell(STOPPING)
        if not plan.drain:
            log.info("leaving the pods to the runtime", reason=reason)
            return Ended()
        log.info("draining", reason=reason)
        return await _drain(service, lifetime)


async def _drain(service: Service, lifetime: Lifetime) -> Ended:
    """Ends every pod within its grace period, or at once after another signal; logs the pods that cannot be ended."""
    left = await lifetime.unless_hurried(service.pods.drain())
    hurried_by = None
    if not isinstance(left, list):
        log.warning("killing at once", signal=left.name)
        hurried_by = left
        left = await service.pods.drain(at_once=True)
    if left:
        log.error("pods could not be ended", pods=left)
    else:
        log.info("drained")
    return Ended(tuple(left), hurried_by)


async def _runtime(
    plan: Plan, state_dir: Path, stack: AsyncExitStack
) -> tuple[EmbeddedRuntime | None, str, KeptLogs | None]:
    """The runtime's endpoint; starts the embedded runtime, whose logs are kept. Both end with ``stack``."""
    if plan.runtime != PROCESS:
        return None, plan.runtime, None
    try:
        kept = KeptLogs(state_dir, datetime.now(UTC))
    except OSError as error:
        raise DaemonError(f"--state-dir {state_dir}: no directory for logs: {error.strerror}") from error
    stack.callback(kept.close)
    runtime = await launch(state_dir, log_limits(plan.configuration.kubelet), plan.isolate)
    stack.push_async_callback(runtime.aclose)
    return runtime, runtime.endpoint, kept


@asynccontextmanager
async def _service(
    plan: Plan,
    client: RuntimeClient,
    calls: RuntimeCalls,
    log_root: Path,
    kept_logs: KeptLogs | None,
    state_dir: Path,
) -> AsyncIterator[Service]:
    direct = await direct_execs(plan.configuration.probelet, client, is_embedded=plan.runtime == PROCESS)
    gate = restart_gate(plan.configuration)
    engine = node_engine(plan.configuration, gate, state_dir, plan.node)
    share_helper(direct, engine, exec_limits(plan.configuration.probelet))
    service = Service(
        client,
        engine,
        gate,
        node=plan.node,
        cluster_domain=plan.configuration.kubelet.cluster_domain,
        log_root=log_root,
        logs=LogUpkeep(
            log_limits(plan.configuration.kubelet) if kept_logs is None else None,
            plan.configuration.kubelet.container_log_monitor_interval,
            kept_logs,
        ),
        root=None if plan.runtime == PROCESS else plan.root,
        on_host=plan.runtime == PROCESS,
        probe_grace=plan.configuration.gates["ProbeTerminationGracePeriod"],
        kubelet_version=plan.configuration.gates.version,
        configuration=config_document(plan.configuration),
        exec_limits=exec_limits(plan.configuration.probelet),
        direct_execs=direct,
        calls=calls,
        parallel_pulls=parallel_pulls(plan.configuration.kubelet),
        seccomp_default=plan.configuration.kubelet.seccomp_default is True,
        objects=plan.manifests.objects,
        release_on_dependency=plan.configuration.probelet.release_on_dependency,
        max_age_ns=plan.configuration.probelet.max_container_age,
        event_wording=plan.configuration.probelet.event_wording,
        mistakes=lambda: plan.manifests.mistakes,
    )
    try:
        await service.start()
        yield service
    finally:
        await service.close()


@asynccontextmanager
async def _pages(
    service: Service, listening: Listening, state_dir: Path, descriptors: Descriptors
) -> AsyncIterator[None]:
    """Serves the pages and the control socket. They stay open during the drain, to show what it waits for."""
    http = HttpServer(service.view, listening, descriptors.pages)
    control = ControlServer(service.view, service.operator, state_dir, descriptors.control)
    await http.start()
    await control.start()
    try:
        yield
    finally:
        await http.close()
        await control.close()


@asynccontextmanager
async def _signs_of_life(supervisor: Supervisor, service: Service) -> AsyncIterator[None]:
    """Reports to systemd during the drain too: a long grace period must not look like a stuck service."""
    watch = asyncio.ensure_future(supervisor.watch(service.timers.sleep)) if supervisor.watches else None
    try:
        yield
    finally:
        if watch is not None:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)


@asynccontextmanager
async def _handed_over(plan: Plan, service: Service) -> AsyncIterator[None]:
    """Serves the prober to another node agent, during our drain too: that agent ends its own pods."""
    path = plan.serve
    if path is None:
        yield
        return
    own = service.pods
    pods = HandedOverPods(
        service.engine,
        rules=rules(plan.configuration),
        claimed=own.has,
        claimant=own.claimant,
        released=own.released,
    )
    service.share(pods)
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(served(path, pods, plan.descriptors.callers))
        except SocketPathError as error:
            raise DaemonError(f"--serve {error}") from error
        except OSError as error:
            raise DaemonError(f"--serve {path}: {error.strerror}") from error
        log.info("serving", socket=str(path), execs="caller")
        yield


async def _service_died(service: Service) -> None:
    try:
        await service.run()
    except Exception as error:
        log.exception("a part of the service failed")
        raise DaemonError(f"the service died: {type(error).__name__}: {error}") from error


async def _runtime_died(runtime: EmbeddedRuntime) -> None:
    code = await runtime.wait()
    raise DaemonError(f"the service died: the embedded runtime ended with {code}, and its containers with it")
