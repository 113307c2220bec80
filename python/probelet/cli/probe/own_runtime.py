"""An embedded runtime for one call of ``probe``."""

from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from probelet.cli.probe.target import Target
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.launch import EmbeddedRuntime, launch


async def own_runtime(stack: AsyncExitStack) -> tuple[EmbeddedRuntime, RuntimeClient]:
    """Starts a runtime that ends with ``stack``; returns a client of it, too. Raises LaunchError."""
    state = stack.enter_context(TemporaryDirectory(prefix="probelet-probe-"))
    embedded = await launch(Path(state))
    stack.push_async_callback(embedded.aclose)
    return embedded, await stack.enter_async_context(RuntimeClient(embedded.endpoint))


def sandbox_of(target: Target, log_directory: Path | None = None) -> api_pb2.PodSandboxConfig:
    """The sandbox of the target's pod. Without ``log_directory`` its containers have no logs."""
    meta = target.pod.metadata
    return api_pb2.PodSandboxConfig(
        metadata=api_pb2.PodSandboxMetadata(name=meta.name, namespace=meta.namespace, uid=meta.uid),
        log_directory="" if log_directory is None else str(log_directory),
    )
