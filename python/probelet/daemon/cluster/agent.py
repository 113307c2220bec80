"""Builds and runs the parts of ``agent``: runtime, API server, service, pages, control socket."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec
import structlog
from msgspec.structs import replace

from probelet._rust import read_journal
from probelet.agent.service import AgentOptions, AgentService
from probelet.beside.pods.facts import Known
from probelet.config.document import config_document
from probelet.config.load import Config
from probelet.config.reach import without_effect_in_agent
from probelet.daemon.descriptors import Descriptors
from probelet.daemon.engine import agent_engine, enhanced_engine
from probelet.daemon.error import DaemonError
from probelet.daemon.execs import direct_execs, exec_limits, share_helper
from probelet.daemon.journal import NAME
from probelet.daemon.oom_score import apply_oom_score
from probelet.daemon.signals import Lifetime
from probelet.daemon.systemd import READY, STOPPING, Supervisor
from probelet.errors import JournalError
from probelet.kube.connection import Connection
from probelet.kube.error import KubeConfigError
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.errors import CriError
from probelet.runtime.seen.runtime_calls import RuntimeCalls
from probelet.server.address import Listening
from probelet.server.control.server import ControlServer
from probelet.server.pages.server import HttpServer
from probelet.spec.text.duration import SECOND
from probelet.webhook.certificate.files import CertificateFiles
from probelet.webhook.certificate.pair import CertificateError
from probelet.webhook.certificate.served import ServedCertificate
from probelet.webhook.metrics import WebhookMetrics
from probelet.webhook.pages import HealthPages

log = structlog.get_logger("probelet.agent")


@dataclass(frozen=True)
class Guest:
    """The options of the command line. ``seconds`` limits the run; None means until a signal. ``node_prober``: which
    program probes the node's NodePodProbe, this one or OpenKruise's daemon."""

    configuration: Config
    runtime: str
    node: str
    node_ip: str | None
    namespace: str
    kubeconfig: Path | None
    context: str
    seconds: float | None
    descriptors: Descriptors
    node_executor: Literal["own", "external"] = "own"
    node_prober: Literal["own", "external"] = "own"


@dataclass(frozen=True)
class Health:
    """Health and metrics for other machines, over TLS: with the certificate in ``files``, chain and key, or with one of
    the agent's own that nobody can verify, as a kubelet makes that was given none."""

    listening: Listening
    files: tuple[Path, Path] | None


def carry_out(guest: Guest, state_dir: Path, listening: Listening, health: Health | None = None) -> None:
    """Probes until a signal or the end of ``seconds``. Raises DaemonError if the agent cannot start or one of its parts
    dies."""
    apply_oom_score(guest.configuration)
    try:
        asyncio.run(_run(guest, state_dir, listening, health))
    except (CriError, KubeConfigError) as error:
        raise DaemonError(str(error)) from error


def restoring(configuration: Config) -> Config:
    """The configuration with ``restore: full`` unless a file says otherwise: a rollout replaces the agent, and no pod
    may become unready for that."""
    if "restore" in configuration.origins:
        return configuration
    return replace(configuration, probelet=replace(configuration.probelet, restore="full"))


async def _run(guest: Guest, state_dir: Path, listening: Listening, health: Health | None) -> None:
    for warning in without_effect_in_agent(guest.configuration):
        log.warning(warning.line_of_log)
    async with AsyncExitStack() as stack:
        lifetime = stack.enter_context(Lifetime())
        timeout = guest.configuration.kubelet.runtime_request_timeout / SECOND
        calls = RuntimeCalls()
        client = RuntimeClient(guest.runtime, request_timeout=timeout, observer=calls.note)
        await stack.enter_async_context(client)
        connection = await stack.enter_async_context(Connection.found(guest.kubeconfig, guest.context))
        service = await stack.enter_async_context(_service(guest, state_dir, client, calls, connection))
        await stack.enter_async_context(_pages(service, listening, state_dir, guest.descriptors))
        log.info(
            "listening",
            url=listening.address.url("/statusz"),
            state_dir=str(state_dir),
            node=guest.node,
            server=connection.server,
        )
        supervisor = Supervisor()
        supervisor.tell(READY)
        work = [_service_died(service)]
        if health is not None:
            files = await _health(health, service, stack)
            work += [] if files is None else [files.run()]
        if supervisor.watches:
            work.append(supervisor.watch(service.timers.sleep))
        reason = await lifetime.wait(guest.seconds, *work)
        supervisor.tell(STOPPING)
        log.info("leaving the pods to the kubelet", reason=reason)


@asynccontextmanager
async def _service(
    guest: Guest, state_dir: Path, client: RuntimeClient, calls: RuntimeCalls, connection: Connection
) -> AsyncIterator[AgentService]:
    configuration = restoring(guest.configuration)
    opted = configuration.probelet
    direct = await direct_execs(opted, client, is_embedded=False)
    known = journalled(state_dir / NAME)
    options = AgentOptions(
        node=guest.node,
        namespace=guest.namespace,
        state_dir=state_dir,
        holder=f"{socket.gethostname()}_{os.getpid()}",
        host_ip=guest.node_ip,
        log_root=Path(configuration.kubelet.pod_logs_dir),
        probe_grace=configuration.gates["ProbeTerminationGracePeriod"],
        kubelet_version=configuration.gates.version,
        configuration=config_document(configuration),
        exec_limits=exec_limits(opted),
        event_wording=opted.event_wording,
        journal=known,
        node_executor=guest.node_executor,
        enhanced_engine=partial(enhanced_engine, configuration) if guest.node_prober == "own" else None,
    )
    engine = agent_engine(configuration, state_dir, guest.node)
    share_helper(direct, engine, exec_limits(opted))
    service = AgentService(client, engine, connection, options, direct_execs=direct, calls=calls)
    try:
        await service.start()
        yield service
    finally:
        await service.close()


def journalled(path: Path) -> Known:
    """The results that the engine's journal has; none if it cannot be read, because the engine then begins without it
    too."""
    try:
        workers = msgspec.json.decode(read_journal(path))["workers"]
    except (JournalError, OSError):
        return {}
    return {(worker["type"], worker["container_id"]): worker["result"] for worker in workers}


@asynccontextmanager
async def _pages(
    service: AgentService, listening: Listening, state_dir: Path, descriptors: Descriptors
) -> AsyncIterator[None]:
    http = HttpServer(service.view, listening, descriptors.pages)
    control = ControlServer(service.view, service.operator, state_dir, descriptors.control)
    await http.start()
    await control.start()
    try:
        yield
    finally:
        await http.close()
        await control.close()


async def _health(health: Health, service: AgentService, stack: AsyncExitStack) -> CertificateFiles | None:
    """Serves the pages for other machines; returns what keeps a certificate of files up to date."""
    # Its stand-in stays in use if there are no files.
    served = ServedCertificate(WebhookMetrics(), service.timers.wall_ns)
    files = None if health.files is None else CertificateFiles(*health.files, served, service.timers)
    try:
        if files is not None:
            files.load()
    except CertificateError as error:
        raise DaemonError(str(error)) from error

    def why_not_ready() -> str | None:
        is_ready, why = service.view.ready()
        return None if is_ready else why

    pages = HealthPages(health.listening, served.context, why_not_ready, service.view.metrics)
    await pages.start()
    stack.push_async_callback(pages.close)
    log.info("pages", url=f"https://{health.listening.address}/metrics")
    return files


async def _service_died(service: AgentService) -> None:
    try:
        await service.run()
    except Exception as error:
        log.exception("a part of the agent failed")
        raise DaemonError(f"the agent died: {type(error).__name__}: {error}") from error
