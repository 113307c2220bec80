"""Builds and runs the parts of ``agent``: runtime, API server, service, pages, control socket."""

import asyncio
import os
import socket
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec
import structlog
from msgspec.structs import replace

from probelet._rust import read_journal
from probelet.agent.service import AgentOptions, AgentService
from probelet.base.garbage import collect_as_usual
from probelet.beside.pods.facts import Known
from probelet.config.document import config_document
from probelet.config.load import Config
from probelet.config.probe_options import allowed_options
from probelet.config.reach import without_effect_in_agent
from probelet.daemon.asked_hosts import asked_hosts
from probelet.daemon.descriptors import Descriptors
from probelet.daemon.engine import JOURNAL, agent_engine, enhanced_engine
from probelet.daemon.process import apply_oom_score, pages, running, runtime_host, signs_of_life
from probelet.daemon.signals import Lifetime, until_death
from probelet.daemon.systemd import READY, STOPPING, Supervisor
from probelet.errors import DaemonError, JournalError
from probelet.kube.connection import Connection
from probelet.kube.error import KubeConfigError
from probelet.policy.node.kill_gate import HoldOptions
from probelet.runtime.cri.errors import CriError
from probelet.server.address import Listening
from probelet.webhook.certificate.files import CertificateFiles
from probelet.webhook.certificate.pair import CertificateError
from probelet.webhook.certificate.served import ServedCertificate
from probelet.webhook.metrics import WebhookMetrics
from probelet.webhook.pages import HealthPages

log = structlog.get_logger("probelet.agent")


class AgentFlags(msgspec.Struct, frozen=True):
    """The flags of the command line. ``seconds`` limits the run; None means until a signal. ``node_prober``: which
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
    coexist: bool = False
    """OpenKruise's manager runs in the cluster, too."""


class Health(msgspec.Struct, frozen=True):
    """Health and metrics for other machines, over TLS: with the certificate in ``files``, chain and key, or with one of
    the agent's own that nobody can verify, as a kubelet makes that was given none."""

    listening: Listening
    files: tuple[Path, Path] | None


def carry_out(flags: AgentFlags, state_dir: Path, listening: Listening, health: Health | None = None) -> None:
    """Probes until a signal or the end of ``seconds``. Raises DaemonError if the agent cannot start or one of its parts
    dies."""
    apply_oom_score(flags.configuration)
    collect_as_usual()
    try:
        asyncio.run(_run(flags, state_dir, listening, health))
    except (CriError, KubeConfigError) as error:
        raise DaemonError(str(error)) from error


def restoring(configuration: Config) -> Config:
    """The configuration with ``restore: full`` unless a file says otherwise: a rollout replaces the agent, and no pod
    may become unready for that."""
    if "restore" in configuration.origins:
        return configuration
    return replace(configuration, probelet=replace(configuration.probelet, restore="full"))


async def _run(flags: AgentFlags, state_dir: Path, listening: Listening, health: Health | None) -> None:
    configuration = flags.configuration
    for warning in without_effect_in_agent(configuration):
        log.warning(warning.line_of_log)
    async with AsyncExitStack() as stack:
        lifetime = stack.enter_context(Lifetime())
        configuration = restoring(configuration)
        # The agent reads what the engine's journal has before the engine writes it anew.
        options = _options(flags, configuration, state_dir)
        make_engine = partial(agent_engine, configuration, state_dir, flags.node)
        connection = await stack.enter_async_context(Connection.found(flags.kubeconfig, flags.context))
        host = await runtime_host(stack, configuration, flags.runtime, flags.node, make_engine, address=flags.node_ip)
        service = AgentService(host, connection, options)
        await stack.enter_async_context(running(service))
        await stack.enter_async_context(pages(service, listening, state_dir, flags.descriptors))
        log.info(
            "listening",
            url=listening.address.url("/statusz"),
            state_dir=str(state_dir),
            node=flags.node,
            server=connection.server,
        )
        supervisor = Supervisor()
        supervisor.notify(READY)
        work = [until_death(host.run(), "agent", log)]
        if health is not None:
            files = await _health(health, service, stack)
            work += [] if files is None else [files.run()]
        await stack.enter_async_context(signs_of_life(supervisor, host.timers.sleep))
        reason = await lifetime.wait(flags.seconds, *work)
        supervisor.notify(STOPPING)
        log.info("leaving the pods to the kubelet", reason=reason)


def _options(flags: AgentFlags, configuration: Config, state_dir: Path) -> AgentOptions:
    return AgentOptions(
        namespace=flags.namespace,
        state_dir=state_dir,
        holder=f"{socket.gethostname()}_{os.getpid()}",
        log_root=Path(configuration.kubelet.pod_logs_dir),
        probe_grace=configuration.gates["ProbeTerminationGracePeriod"],
        kubelet_version=configuration.gates.version,
        configuration=config_document(configuration),
        incidents=asked_hosts if configuration.probelet.incidents else None,
        hold_kills=HoldOptions(configuration.probelet.hold_kills, configuration.probelet.hold_kills_for),
        incident_webhook=configuration.probelet.incident_webhook,
        event_wording=configuration.probelet.event_wording,
        journal=journalled(state_dir / JOURNAL),
        node_executor=flags.node_executor,
        enhanced_engine=partial(enhanced_engine, configuration) if flags.node_prober == "own" else None,
        probe_options=allowed_options(configuration.probelet),
        probe_changes=configuration.probelet.probe_changes,
        is_kruise_here=flags.coexist,
    )


def journalled(path: Path) -> Known:
    """The results that the engine's journal has; none if it cannot be read, because the engine then begins without it
    too. A failure of a probe that has never succeeded may only be all that is left of a journal that was cut, so
    it counts as no result."""
    try:
        workers = msgspec.json.decode(read_journal(path))["workers"]
    except (JournalError, OSError):
        return {}
    return {
        (worker["type"], worker["container_id"]): worker["result"]
        for worker in workers
        if worker["result"] == "Success" or worker["has_initialized"]
    }


async def _health(health: Health, service: AgentService, stack: AsyncExitStack) -> CertificateFiles | None:
    """Serves the pages for other machines; returns what keeps a certificate of files up to date."""
    # Its stand-in stays in use if there are no files.
    served = ServedCertificate(WebhookMetrics(), service.host.timers.wall_ns)
    files = None if health.files is None else CertificateFiles(*health.files, served, service.host.timers)
    try:
        if files is not None:
            files.load()
    except CertificateError as error:
        raise DaemonError(str(error)) from error

    def why_not_ready() -> str | None:
        is_ready, why = service.view.ready()
        return None if is_ready else why

    health_pages = HealthPages(health.listening, served.context, why_not_ready, service.view.metrics)
    await health_pages.start()
    stack.push_async_callback(health_pages.close)
    log.info("pages", url=f"https://{health.listening.address}/metrics")
    return files
