"""Builds and runs the parts of ``serve``."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from probelet._rust import Engine
from probelet.base.files.unix_socket import SocketPathError
from probelet.config.document import config_document
from probelet.config.load import Config
from probelet.config.reach import without_effect
from probelet.daemon.descriptors import Descriptors
from probelet.daemon.engine import callers_engine
from probelet.daemon.error import DaemonError
from probelet.daemon.execs import exec_limits
from probelet.daemon.oom_score import apply_oom_score
from probelet.daemon.readers import warn_of_readers
from probelet.daemon.rules import rules
from probelet.daemon.signals import Lifetime
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.errors import CriError
from probelet.server.address import Listening
from probelet.server.pages.server import HttpServer
from probelet.service.server import prober_service
from probelet.service.view import PagesView
from probelet.spec.text.duration import SECOND

log = structlog.get_logger("probelet.serve")


@dataclass(frozen=True)
class Serving:
    """The options of the command line. ``seconds`` limits the run; None means until a signal. ``pages`` is the
    socket of the HTTP pages, if any."""

    configuration: Config
    path: Path
    runtime: str | None
    node: str
    seconds: float | None
    pages: Listening | None
    descriptors: Descriptors


def carry_out(serving: Serving, state_dir: Path) -> None:
    """Serves until a signal or the end of ``seconds``. Raises DaemonError if serving cannot start."""
    apply_oom_score(serving.configuration)
    try:
        asyncio.run(_serve(serving, state_dir))
    except CriError as error:
        raise DaemonError(str(error)) from error
    except SocketPathError as error:
        raise DaemonError(f"--socket {error}") from error
    except OSError as error:
        raise DaemonError(f"--socket {serving.path}: {error.strerror}") from error


async def _serve(serving: Serving, state_dir: Path) -> None:
    for warning in without_effect(serving.configuration, has_runtime=serving.runtime is not None):
        log.warning(warning.line_of_log)
    async with AsyncExitStack() as stack:
        lifetime = stack.enter_context(Lifetime())
        client = await _client(serving, stack)
        engine = callers_engine(serving.configuration, state_dir, serving.node)
        stack.enter_context(_closing(engine))
        limits = exec_limits(serving.configuration.probelet)
        pods = await stack.enter_async_context(
            prober_service(
                serving.path, engine, client, limits, serving.descriptors.callers, rules(serving.configuration)
            )
        )
        view = PagesView(engine, pods, serving.node, config_document(serving.configuration))
        await stack.enter_async_context(_pages(serving, view))
        log.info("serving", socket=str(serving.path), execs=serving.runtime or "caller")
        reason = await lifetime.wait(serving.seconds)
        log.info("ending", reason=reason)


@contextmanager
def _closing(engine: Engine) -> Iterator[None]:
    """Closes the engine at the end of the block and logs what its journal says last."""
    try:
        yield
    finally:
        engine.close()
        for notice in engine.drain().notices:
            (log.warning if notice.is_warning else log.info)(notice.text)


@asynccontextmanager
async def _pages(serving: Serving, view: PagesView) -> AsyncIterator[None]:
    if serving.pages is None:
        yield
        return
    server = HttpServer(view, serving.pages, serving.descriptors.pages)
    await server.start()
    log.info("listening", url=serving.pages.address.url("/statusz"))
    warn_of_readers(serving.pages, log)
    try:
        yield
    finally:
        await server.close()


async def _client(serving: Serving, stack: AsyncExitStack) -> RuntimeClient | None:
    if serving.runtime is None:
        return None
    timeout = serving.configuration.kubelet.runtime_request_timeout / SECOND
    client = await stack.enter_async_context(RuntimeClient(serving.runtime, request_timeout=timeout))
    await client.verify()
    return client
