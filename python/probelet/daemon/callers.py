"""The prober service for other node agents, beside the pods of ``run`` (``run --serve``)."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import structlog

from probelet.base.files.unix_socket import SocketPathError
from probelet.config.load import Config
from probelet.errors import DaemonError
from probelet.node.service import Service
from probelet.service.handed_over_pods import HandedOverPods
from probelet.service.rules import Rules
from probelet.service.server import served

log = structlog.get_logger("probelet.run")


def rules(configuration: Config) -> Rules:
    """The options for pods that callers hand over, the same for ``serve`` and ``run --serve``."""
    opted = configuration.probelet
    return Rules(
        deny_hosts=opted.deny_host_probes,
        event_wording=opted.event_wording,
        gates=configuration.gates,
        probe_options=opted.probe_options,
    )


@asynccontextmanager
async def handed_over(service: Service, path: Path, configuration: Config, connections: int) -> AsyncIterator[None]:
    """Serves a node's prober to another node agent, during our drain too: that agent ends its own pods."""
    own = service.pods
    pods = HandedOverPods(
        service.host.engine,
        rules=rules(configuration),
        claimed=own.has,
        claimant=own.claimant,
        released=own.released,
    )
    service.share(pods)
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(served(path, pods, connections))
        except SocketPathError as error:
            raise DaemonError(f"--serve {error}") from error
        except OSError as error:
            raise DaemonError(f"--serve {path}: {error.strerror}") from error
        log.info("serving", socket=str(path), execs="caller")
        yield
