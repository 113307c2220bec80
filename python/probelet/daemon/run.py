"""Builds and runs the parts of ``run``: runtime, service, pages, control socket."""

import asyncio
import signal
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
import structlog

from probelet.base.garbage import collect_as_usual
from probelet.base.logs.kept import KeptLogs
from probelet.config.document import config_document
from probelet.config.kubelet import log_limits, parallel_pulls
from probelet.config.load import Config
from probelet.daemon.asked_hosts import asked_hosts
from probelet.daemon.callers import handed_over
from probelet.daemon.descriptors import Descriptors
from probelet.daemon.engine import node_engine
from probelet.daemon.gate import restart_gate
from probelet.daemon.process import apply_oom_score, pages, running, runtime_host, signs_of_life, warn_of_readers
from probelet.daemon.signals import Lifetime, until_death
from probelet.daemon.systemd import READY, STOPPING, Supervisor
from probelet.errors import DaemonError
from probelet.node.options import LogUpkeep, NodeOptions
from probelet.node.service import Service
from probelet.node.source.watch import Manifests
from probelet.policy.node.kill_gate import HoldOptions
from probelet.runtime.cri.errors import CriError
from probelet.runtime.embedded.launch import EmbeddedRuntime, Isolation, LaunchError, launch
from probelet.server.address import Listening
from probelet.spec.read.load import Manifest

# The value of `--runtime` for the embedded runtime.
PROCESS = "process"

log = structlog.get_logger("probelet.run")


class RunFlags(msgspec.Struct, frozen=True):
    """The flags of the command line. ``seconds`` limits the run; None means until a signal.

    ``has_users``: a container of the embedded runtime runs as the user that its pod names, else all run as probelet.
    ``drain``: the pods end with the service. ``root``: where the files of pods are on a CRI runtime. ``serve``: the
    socket for another node agent's pods, if any.
    """

    configuration: Config
    manifests: Manifests
    first: list[Manifest]
    runtime: str
    isolate: Isolation
    has_users: bool
    node: str
    seconds: float | None
    drain: bool
    root: Path
    serve: Path | None
    descriptors: Descriptors


class Ended(msgspec.Struct, frozen=True):
    """The end of a run. ``pods_left``: names of the pods that could not be ended. ``hurried_by``: the signal that cut
    the drain short."""

    pods_left: tuple[str, ...] = ()
    hurried_by: signal.Signals | None = None


def carry_out(flags: RunFlags, state_dir: Path, listening: Listening) -> Ended:
    """Runs the pods until a signal or the end of ``seconds``. Raises DaemonError if the run cannot start or one of its
    parts dies."""
    apply_oom_score(flags.configuration)
    collect_as_usual()
    try:
        return asyncio.run(_run(flags, state_dir, listening))
    except (CriError, LaunchError) as error:
        raise DaemonError(str(error)) from error


async def _run(flags: RunFlags, state_dir: Path, listening: Listening) -> Ended:
    configuration = flags.configuration
    async with AsyncExitStack() as stack:
        lifetime = stack.enter_context(Lifetime())
        runtime, endpoint, kept_logs = await _runtime(flags, state_dir, stack)
        gate, on_host = restart_gate(configuration), flags.runtime == PROCESS
        make_engine = partial(node_engine, configuration, gate, state_dir, flags.node)
        host = await runtime_host(stack, configuration, endpoint, flags.node, make_engine, on_host=on_host)
        options = _options(flags, kept_logs)
        service = Service(host, gate, options)
        await stack.enter_async_context(running(service))
        await stack.enter_async_context(pages(service, listening, state_dir, flags.descriptors))
        url, logs = listening.address.url("/statusz"), str(options.log_root)
        log.info("listening", url=url, state_dir=str(state_dir), logs=logs)
        warn_of_readers(listening, log)
        if flags.serve is not None:
            callers = flags.descriptors.callers
            await stack.enter_async_context(handed_over(service, flags.serve, configuration, callers))
        flags.manifests.announce()
        service.pods.set(flags.first)
        # An embedded runtime begins without pods.
        has_doubtful = runtime is None and flags.manifests.mistakes.total > 0
        if has_doubtful:
            log.warning("pods without a manifest stay until no manifest has a mistake")
        else:
            await service.remove_orphans()
        supervisor = Supervisor()
        supervisor.notify(READY)
        await stack.enter_async_context(signs_of_life(supervisor, host.timers.sleep))
        work = [until_death(host.run(), "service", log), flags.manifests.follow(service.pods.set, host.timers)]
        if has_doubtful:
            work.append(service.remove_orphans_later(flags.manifests.right))
        if runtime is not None:
            work.append(_runtime_died(runtime))
        reason = await lifetime.wait(flags.seconds, *work)
        supervisor.notify(STOPPING)
        if not flags.drain:
            log.info("leaving the pods to the runtime", reason=reason)
            return Ended()
        log.info("draining", reason=reason)
        return await _drain(service, lifetime)


def _options(flags: RunFlags, kept_logs: KeptLogs | None) -> NodeOptions:
    """Returns the options of the node from flags and configuration. Logs that are kept are those of the embedded
    runtime, which rotates them itself."""
    configuration = flags.configuration
    kubelet, opted = configuration.kubelet, configuration.probelet
    return NodeOptions(
        log_root=Path(kubelet.pod_logs_dir) if kept_logs is None else kept_logs.root,
        logs=LogUpkeep(
            log_limits(kubelet) if kept_logs is None else None, kubelet.container_log_monitor_interval, kept_logs
        ),
        root=None if flags.runtime == PROCESS else flags.root,
        cluster_domain=kubelet.cluster_domain,
        probe_grace=configuration.gates["ProbeTerminationGracePeriod"],
        kubelet_version=configuration.gates.version,
        configuration=config_document(configuration),
        parallel_pulls=parallel_pulls(kubelet),
        seccomp_default=kubelet.seccomp_default is True,
        objects=flags.manifests.objects,
        release_on_dependency=opted.release_on_dependency,
        max_age_ns=opted.max_container_age,
        event_wording=opted.event_wording,
        incidents=asked_hosts if opted.incidents else None,
        hold_kills=HoldOptions(opted.hold_kills, opted.hold_kills_for),
        incident_webhook=opted.incident_webhook,
        mistakes=lambda: flags.manifests.mistakes,
    )


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
    flags: RunFlags, state_dir: Path, stack: AsyncExitStack
) -> tuple[EmbeddedRuntime | None, str, KeptLogs | None]:
    """The runtime's endpoint; starts the embedded runtime, whose logs are kept. Both end with ``stack``."""
    if flags.runtime != PROCESS:
        return None, flags.runtime, None
    try:
        kept = KeptLogs(state_dir, datetime.now(UTC))
    except OSError as error:
        raise DaemonError(f"--state-dir {state_dir}: no directory for logs: {error.strerror}") from error
    stack.callback(kept.close)
    limits = log_limits(flags.configuration.kubelet)
    runtime = await launch(state_dir, limits, flags.isolate, has_users=flags.has_users)
    stack.push_async_callback(runtime.aclose)
    return runtime, runtime.endpoint, kept


async def _runtime_died(runtime: EmbeddedRuntime) -> None:
    code = await runtime.wait()
    raise DaemonError(f"the service died: the embedded runtime ended with {code}, and its containers with it")
