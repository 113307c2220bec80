"""The common half of ``run``, ``serve`` and ``agent``: the host beside a runtime, the pages, signs of life."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import structlog

from probelet._rust import Engine
from probelet.config.load import Config
from probelet.daemon.descriptors import Descriptors
from probelet.daemon.execs import direct_execs, exec_limits, share_helper
from probelet.daemon.systemd import Supervisor
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.host import RuntimeHost
from probelet.runtime.seen.runtime_calls import RuntimeCalls
from probelet.server.address import Listening
from probelet.server.control.command import Commands
from probelet.server.control.server import ControlServer
from probelet.server.pages.server import HttpServer
from probelet.server.view import View
from probelet.spec.text.duration import SECOND

OWN_OOM_SCORE: Final = Path("/proc/self/oom_score_adj")
"""The service's place in the kernel's order of processes to kill when memory runs out."""

log = structlog.get_logger("probelet.daemon")


def apply_oom_score(configuration: Config, file: Path = OWN_OOM_SCORE) -> None:
    """Sets ``oomScoreAdj``, as the kubelet does at its start (cmd/kubelet/app/server.go, 1.36). Only root may lower a
    score: without a wish in a file, others keep theirs in silence."""
    try:
        file.write_text(str(configuration.kubelet.oom_score_adj))
    except OSError as error:
        if "oomScoreAdj" in configuration.origins:
            log.warning("cannot set oomScoreAdj", error=error.strerror)


class Service(Protocol):
    """A node or an agent."""

    @property
    def view(self) -> View: ...
    @property
    def commands(self) -> Commands: ...
    async def start(self) -> None: ...
    async def close(self) -> None: ...


def runtime_client(configuration: Config, endpoint: str, calls: RuntimeCalls) -> RuntimeClient:
    """A client of the runtime with the timeout of the configuration, whose calls are counted."""
    timeout = configuration.kubelet.runtime_request_timeout / SECOND
    return RuntimeClient(endpoint, request_timeout=timeout, observer=calls.observe)


async def runtime_host(
    stack: AsyncExitStack,
    configuration: Config,
    endpoint: str,
    node: str,
    make_engine: Callable[[], Engine],
    *,
    on_host: bool = False,
    address: str | None = None,
) -> RuntimeHost:
    """The host of a process beside the runtime at ``endpoint``, with the helper for exec probes if the configuration
    asks for it. The client is closed with ``stack``, the host by its owner before. Raises DaemonError."""
    calls, limits = RuntimeCalls(), exec_limits(configuration.probelet)
    client = await stack.enter_async_context(runtime_client(configuration, endpoint, calls))
    direct = await direct_execs(configuration.probelet, client, is_embedded=on_host)
    engine = make_engine()
    share_helper(direct, engine, limits)
    return RuntimeHost(
        client,
        engine,
        node,
        on_host=on_host,
        address=address,
        exec_limits=limits,
        direct_execs=direct,
        calls=calls,
    )


@asynccontextmanager
async def running(service: Service) -> AsyncIterator[None]:
    """Starts a service, and closes it at the end of the block, also one that could not start."""
    try:
        await service.start()
        yield
    finally:
        await service.close()


@asynccontextmanager
async def pages(
    service: Service, listening: Listening, state_dir: Path, descriptors: Descriptors
) -> AsyncIterator[None]:
    """Serves the pages and the control socket. They stay open during a drain, to show what it waits for."""
    http = HttpServer(service.view, listening, descriptors.pages)
    control = ControlServer(service.view, service.commands, state_dir, descriptors.control)
    await http.start()
    await control.start()
    try:
        yield
    finally:
        await http.close()
        await control.close()


def warn_of_readers(listening: Listening, log: Any) -> None:
    """Logs a warning if other machines may reach the pages."""
    if listening.is_remote:
        log.warning(
            "other machines can read the pages, and see commands and output of probes; a reader needs no password",
            address=str(listening.address),
        )


@asynccontextmanager
async def signs_of_life(supervisor: Supervisor, sleep: Callable[[int], Awaitable[None]]) -> AsyncIterator[None]:
    """Reports to systemd during a drain too: a long grace period must not look like a stuck service."""
    watch = asyncio.ensure_future(supervisor.watch(sleep)) if supervisor.watches else None
    try:
        yield
    finally:
        if watch is not None:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
