"""Builds and runs the parts of ``controller``."""

import asyncio
import os
import socket
import ssl
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import structlog

from probelet.base.garbage import collect_as_usual
from probelet.beside.guard.mapping.merge import MergeOptions
from probelet.beside.guard.objects.node_probes import FAILED_BEAT_NS
from probelet.beside.guard.objects.probe_name import Naming
from probelet.beside.guard.restart.state.observed_cluster import KRUISE_HEARTBEAT_NS, GuardOptions
from probelet.controller.service import ControllerOptions, ControllerService
from probelet.controller.view import ControllerView
from probelet.daemon.asked_hosts import asked_hosts
from probelet.daemon.signals import Lifetime, until_death
from probelet.kube.clock import Clock, LoopClock
from probelet.kube.connection import Connection
from probelet.server.address import Listening
from probelet.server.pages.nodes import NodesServer
from probelet.spec.text.duration import SECOND
from probelet.webhook.certificate.served import load, new_context, stand_in
from probelet.webhook.pages import HealthPages

log = structlog.get_logger("probelet.controller")


class ControllerFlags(msgspec.Struct, frozen=True):
    """The flags of the command line. ``seconds`` limits the run; None means until a signal."""

    kubeconfig: Path | None
    context: str
    namespace: str
    config_map: str
    coexist: bool
    """OpenKruise's manager runs in the cluster, too."""
    is_prober_kruise: bool
    """OpenKruise's daemon runs the probes."""
    trust_changes: bool
    pages: Listening | None
    people: Listening | None
    """The address of the page and the incidents."""
    seconds: float | None


def carry_out(flags: ControllerFlags) -> None:
    """Decides until a signal or the end of ``seconds``. Raises DaemonError if a part dies, KubeConfigError if the API
    server's address is not known."""
    collect_as_usual()
    asyncio.run(_run(flags))


async def _run(flags: ControllerFlags) -> None:
    clock = LoopClock()
    async with AsyncExitStack() as stack:
        lifetime = stack.enter_context(Lifetime())
        connection = await stack.enter_async_context(Connection.found(flags.kubeconfig, flags.context))
        service = ControllerService(connection, options(flags), clock)
        if flags.pages is not None:
            pages = HealthPages(flags.pages, _tls(clock), lambda: service.why_not_ready, service.render_metrics)
            await pages.start()
            stack.push_async_callback(pages.close)
            log.info("pages", url=f"https://{flags.pages.address}/metrics")
        if flags.people is not None:
            people = NodesServer(ControllerView(service, clock), flags.people)
            await people.start()
            stack.push_async_callback(people.close)
            log.info("page for people", url=flags.people.address.url("/"))
        log.info("a candidate for the leader", server=connection.server, namespace=flags.namespace)
        reason = await lifetime.wait(flags.seconds, until_death(service.run(), "controller", log))
        log.info("ending", reason=reason)


def options(flags: ControllerFlags) -> ControllerOptions:
    """Returns the options of the mapping and the decision that the flags set."""
    naming: Naming = "coexist" if flags.coexist else "seed"
    host = socket.gethostname()
    return ControllerOptions(
        namespace=flags.namespace,
        config_map=flags.config_map,
        holder=f"{host}_{os.getpid()}_{os.urandom(4).hex()}",
        host=host,
        merge=MergeOptions(naming, keep_empty=flags.coexist, trust_changes=flags.trust_changes),
        guard=GuardOptions(
            naming=naming,
            heartbeat_ns=KRUISE_HEARTBEAT_NS if flags.is_prober_kruise else FAILED_BEAT_NS,
            seed=int.from_bytes(os.urandom(8)),
            # OpenKruise's webhook fills it, and refuses a request that has it already.
            fills_context=not flags.coexist,
            shows_attempts=not flags.is_prober_kruise,
        ),
        # OpenKruise's manager does it there.
        manages_requests=not flags.coexist,
        read_command=asked_hosts,
    )


def _tls(clock: Clock) -> ssl.SSLContext:
    """TLS for the pages. Nobody verifies it: a kubelet's probe does not, and a scraper has no authority to do it by."""
    context = new_context()
    load(context, stand_in(clock.wall_ns() // SECOND))
    return context
