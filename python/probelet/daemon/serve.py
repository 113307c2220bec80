"""Builds and runs the parts of ``serve``."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec
import structlog

from probelet.base.files.unix_socket import SocketPathError
from probelet.base.garbage import collect_as_usual
from probelet.config.document import config_document
from probelet.config.load import Config
from probelet.config.reach import without_effect
from probelet.daemon.callers import rules
from probelet.daemon.descriptors import Descriptors
from probelet.daemon.engine import callers_engine
from probelet.daemon.execs import exec_limits
from probelet.daemon.process import apply_oom_score, runtime_client, warn_of_readers
from probelet.daemon.signals import Lifetime
from probelet.errors import DaemonError
from probelet.host.engine_host import EngineHost
from probelet.runtime.cri.errors import CriError
from probelet.runtime.host import RuntimeHost
from probelet.runtime.seen.runtime_calls import RuntimeCalls
from probelet.server.address import Listening
from probelet.server.pages.server import HttpServer
from probelet.service.server import prober_service
from probelet.service.view import PagesView

log = structlog.get_logger("probelet.serve")


class ServeFlags(msgspec.Struct, frozen=True):
    """The flags of the command line. ``seconds`` limits the run; None means until a signal. ``pages`` is the
    socket of the HTTP pages, if any."""

    configuration: Config
    path: Path
    runtime: str | None
    node: str
    seconds: float | None
    pages: Listening | None
    descriptors: Descriptors


def carry_out(flags: ServeFlags, state_dir: Path) -> None:
    """Serves until a signal or the end of ``seconds``. Raises DaemonError if serving cannot start."""
    apply_oom_score(flags.configuration)
    collect_as_usual()
    try:
        asyncio.run(_serve(flags, state_dir))
    except CriError as error:
        raise DaemonError(str(error)) from error
    except SocketPathError as error:
        raise DaemonError(f"--socket {error}") from error
    except OSError as error:
        raise DaemonError(f"--socket {flags.path}: {error.strerror}") from error


async def _serve(flags: ServeFlags, state_dir: Path) -> None:
    for warning in without_effect(flags.configuration, has_runtime=flags.runtime is not None):
        log.warning(warning.line_of_log)
    async with AsyncExitStack() as stack:
        lifetime = stack.enter_context(Lifetime())
        host = await _host(flags, state_dir, stack)
        stack.push_async_callback(host.close)
        pods = await stack.enter_async_context(
            prober_service(flags.path, host, flags.descriptors.callers, rules(flags.configuration))
        )
        view = PagesView(host, pods, config_document(flags.configuration))
        await stack.enter_async_context(_pages(flags, view))
        log.info("serving", socket=str(flags.path), execs=flags.runtime or "caller")
        reason = await lifetime.wait(flags.seconds)
        log.info("ending", reason=reason)


@asynccontextmanager
async def _pages(flags: ServeFlags, view: PagesView) -> AsyncIterator[None]:
    if flags.pages is None:
        yield
        return
    server = HttpServer(view, flags.pages, flags.descriptors.pages)
    await server.start()
    log.info("listening", url=flags.pages.address.url("/statusz"))
    warn_of_readers(flags.pages, log)
    try:
        yield
    finally:
        await server.close()


async def _host(flags: ServeFlags, state_dir: Path, stack: AsyncExitStack) -> EngineHost:
    """The host of the engine; with ``--runtime`` the runtime carries out exec probes, without the helper."""
    configuration = flags.configuration
    if flags.runtime is None:
        return EngineHost(callers_engine(configuration, state_dir, flags.node), flags.node)
    calls, limits = RuntimeCalls(), exec_limits(configuration.probelet)
    client = await stack.enter_async_context(runtime_client(configuration, flags.runtime, calls))
    await client.verify()
    engine = callers_engine(configuration, state_dir, flags.node)
    return RuntimeHost(client, engine, flags.node, exec_limits=limits, calls=calls)
