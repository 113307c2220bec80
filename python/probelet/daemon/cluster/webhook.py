"""Builds and runs the parts of ``webhook``."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import msgspec
import structlog

from probelet.base.garbage import collect_as_usual
from probelet.beside.guard.mutation import Options
from probelet.daemon.signals import Lifetime
from probelet.errors import DaemonError
from probelet.kube.clock import LoopClock
from probelet.kube.connection import Connection
from probelet.kube.error import KubeConfigError
from probelet.kube.kinds import MUTATING_WEBHOOKS
from probelet.kube.reflector import Reflector
from probelet.server.address import Listening
from probelet.webhook.certificate.files import CertificateFiles
from probelet.webhook.certificate.pair import CertificateError
from probelet.webhook.certificate.self_signed import SelfSigned
from probelet.webhook.certificate.served import ServedCertificate
from probelet.webhook.handler import AsyncHandler, Handler, label_pods, mutate_enhanced_liveness, mutate_probes
from probelet.webhook.limit import DRAIN_SECONDS
from probelet.webhook.metrics import WebhookMetrics
from probelet.webhook.pages import HealthPages
from probelet.webhook.requests import mutate_requests
from probelet.webhook.server import AdmissionServer

log = structlog.get_logger("probelet.webhook")

SECRET: Final = "probelet-webhook-certificate"
"""The Secret with the certificate of the webhook's own authority; RBAC names it."""


class Files(msgspec.Struct, frozen=True):
    """The certificate is in two files."""

    chain: Path
    key: Path


class OwnAuthority(msgspec.Struct, frozen=True):
    """The certificate is one of an authority of the webhook's own. ``hosts`` are names beside those of the Service."""

    service: str
    hosts: Sequence[str]
    configuration: str | None


class WebhookFlags(msgspec.Struct, frozen=True):
    """The flags of the command line. ``seconds`` limits the run; None means until a signal."""

    certificate: Files | OwnAuthority
    kubeconfig: Path | None
    context: str
    namespace: str
    listening: Listening
    pages: Listening | None
    seconds: float | None
    coexist: bool = False
    """OpenKruise's webhook admits ContainerRecreateRequests in this cluster."""
    fallback_ns: int = 0
    """The fallback of pods that name none, 0 for none."""


def carry_out(flags: WebhookFlags) -> None:
    """Serves until a signal or the end of ``seconds``. Raises DaemonError if serving cannot start, KubeConfigError if
    the API server's address is not known."""
    collect_as_usual()
    asyncio.run(_serve(flags))


async def _serve(flags: WebhookFlags) -> None:
    clock = LoopClock()
    metrics = WebhookMetrics()
    served = ServedCertificate(metrics, clock.wall_ns)
    async with AsyncExitStack() as stack:
        lifetime = stack.enter_context(Lifetime())
        connection = await _connection(flags, stack)
        source = await _source(flags, served, metrics, clock, connection)
        served_paths = handlers(flags.namespace, None if flags.coexist else connection, flags.fallback_ns)
        server = AdmissionServer(served_paths, flags.listening, served.context, metrics)
        ending = _Ending()
        if flags.pages is not None:
            render = lambda: metrics.render() + server.refusals.render()  # noqa: E731
            pages = HealthPages(flags.pages, served.context, lambda: ending.why or served.why_not_ready(), render)
            await pages.start()
            stack.push_async_callback(pages.close)
            log.info("pages", url=f"https://{flags.pages.address}/metrics")
        reason = await lifetime.wait(
            flags.seconds,
            source.run(),
            *_watching(source, flags.certificate, connection, clock),
            _answer(server, served, flags.listening, served_paths),
        )
        log.info("ending", reason=reason)
        ending.why = f"ending: {reason}"
        server.drain()
        if flags.seconds is None:
            await lifetime.unless_hurried(_drained())
        await server.close()


class _Ending:
    """Says why the webhook takes itself out of the Service; empty while it serves."""

    why = ""


async def _answer(
    server: AdmissionServer, served: ServedCertificate, listening: Listening, paths: Iterable[str]
) -> None:
    """Answers from the first certificate on; returns only when it is cancelled."""
    await served.loaded.wait()
    await server.start()
    log.info("serving", url=f"https://{listening.address}", handlers=sorted(paths))
    await asyncio.Event().wait()


async def _drained() -> list[str]:
    await asyncio.sleep(DRAIN_SECONDS)
    return []


def handlers(
    namespace: str, connection: Connection | None, fallback_ns: int = 0
) -> Mapping[str, Handler | AsyncHandler]:
    """The handlers by path; ``namespace`` is probelet's own. Without a ``connection`` there is none of requests."""
    found: dict[str, Handler | AsyncHandler] = {
        "/label-pods": label_pods,
        "/mutate-probes": mutate_probes(namespace, fallback_ns),
        "/mutate-enhanced-liveness": mutate_enhanced_liveness(Options(fallback_ns=fallback_ns)),
    }
    if connection is not None:
        found["/mutate-containerrecreaterequests"] = mutate_requests(connection)
    return found


async def _connection(flags: WebhookFlags, stack: AsyncExitStack) -> Connection | None:
    """The API server, if it is known. Raises KubeConfigError if it is not, and the certificate needs it."""
    try:
        return await stack.enter_async_context(Connection.found(flags.kubeconfig, flags.context))
    except KubeConfigError:
        if isinstance(flags.certificate, OwnAuthority) or flags.kubeconfig is not None:
            raise
        # The line "serving" names the handlers; that of requests is not among them.
        return None


def _watching(
    source: CertificateFiles | SelfSigned,
    given: Files | OwnAuthority,
    connection: Connection | None,
    clock: LoopClock,
) -> Iterable[Coroutine[Any, Any, None]]:
    """Tells the source of each change of the configuration whose caBundles it keeps; nothing if it keeps none."""
    if isinstance(source, SelfSigned) and isinstance(given, OwnAuthority) and given.configuration and connection:
        yield Reflector(
            connection,
            MUTATING_WEBHOOKS,
            lambda found: found.get("webhooks") or [],
            clock=clock,
            on_change=lambda before, now: source.changed(),
            fields=f"metadata.name={given.configuration}",
        ).run()


async def _source(
    flags: WebhookFlags,
    served: ServedCertificate,
    metrics: WebhookMetrics,
    clock: LoopClock,
    connection: Connection | None,
) -> CertificateFiles | SelfSigned:
    given = flags.certificate
    if isinstance(given, Files):
        files = CertificateFiles(given.chain, given.key, served, clock)
        try:
            files.load()
        except CertificateError as error:
            raise DaemonError(str(error)) from error
        return files
    assert connection is not None, "an authority of its own needs the API server"
    hosts = [f"{given.service}.{flags.namespace}.svc", f"{given.service}.{flags.namespace}", *given.hosts]
    log.info("certificate of an authority of its own", server=connection.server, secret=f"{flags.namespace}/{SECRET}")
    return SelfSigned(connection, flags.namespace, SECRET, hosts, given.configuration, served, metrics, clock)
