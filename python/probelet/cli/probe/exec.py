"""An exec probe: ExecSync in an existing container, or on this machine through the embedded runtime."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager

from probelet._rust import expand
from probelet.cli.exit import CliError, Exit
from probelet.cli.probe.document import Seen, exact
from probelet.cli.probe.own_runtime import own_runtime, sandbox_of
from probelet.cli.probe.target import Target
from probelet.node.effects.environment.config_error import ContainerConfigError
from probelet.node.effects.environment.place import Place
from probelet.node.effects.environment.references import bytes_of
from probelet.node.effects.environment.variables import environment
from probelet.node.effects.linux.host import this_host
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.errors import CriError
from probelet.runtime.cri.exec import ExecOutcome, exec_attempt
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.launch import LaunchError
from probelet.runtime.seen.node_address import node_address

# The first process of the container in which the command runs: it waits for its kill.
WAIT = (sys.executable, "-c", "import signal; signal.pause()")

# ExecSync's outcome -> the prober's result, and the cause.
_COUNTED = {"exit": ("failure", "exec_exit"), "timeout": ("failure", "exec_timeout"), "error": ("error", "cri")}


@contextmanager
def exec_attempts(target: Target, runtime: str | None, container_id: str | None) -> Iterator[Callable[[], Seen]]:
    """Yields a function that makes one attempt per call, in a container that stays ready until the end."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            client, found = runner.run(_container(stack, target, runtime, container_id))
            yield lambda: runner.run(attempt_in(client, found, target))
        except (ContainerConfigError, CriError, LaunchError) as error:
            raise CliError(str(error), code=Exit.CANNOT) from error
        finally:
            runner.run(stack.aclose())


async def _container(
    stack: AsyncExitStack, target: Target, runtime: str | None, container_id: str | None
) -> tuple[RuntimeClient, str]:
    if runtime is not None and container_id is not None:
        client = await stack.enter_async_context(RuntimeClient(runtime))
        await client.verify()
        return client, container_id.rpartition("://")[2]
    _, client = await own_runtime(stack)
    return client, await _wait_container(client, target)


async def _wait_container(client: RuntimeClient, target: Target) -> str:
    """Starts a container with the environment and working directory of the probed one."""
    sandbox = sandbox_of(target)
    sandbox_id = await client.run_pod_sandbox(sandbox)
    place = Place(
        pod_ip=target.pod_ip,
        host_ip=node_address(on_host=True),
        allocatable=this_host().allocatable(),
        objects=target.objects,
    )
    variables = environment(target.pod, target.container, place)
    config = api_pb2.ContainerConfig(
        metadata=api_pb2.ContainerMetadata(name=target.container.name),
        command=WAIT,
        working_dir=target.container.working_dir,
        envs=[
            api_pb2.KeyValue(key=name, value=bytes_of(value))
            for name, value in {"POD_IP": target.pod_ip, **variables}.items()
        ],
    )
    container_id = await client.create_container(sandbox_id, config, sandbox)
    await client.start_container(container_id)
    return container_id


async def attempt_in(client: RuntimeClient, container_id: str, target: Target) -> Seen:
    """One attempt in a container that runs."""
    action = target.probe.exec
    assert action is not None
    # Only literal values apply, the last one of a name; a value from elsewhere is empty
    # (v1.ExpandContainerCommandOnlyStatic in pkg/kubelet/container/helpers.go, 1.36).
    known = {entry.name: entry.value for entry in target.container.env}
    argv = [expand(text, known) for text in action.command]
    began = time.perf_counter()
    outcome = await exec_attempt(client, container_id, argv, target.probe.timeout_seconds)
    return _seen(outcome, round((time.perf_counter() - began) * 1000, 3))


def _seen(outcome: ExecOutcome, duration_ms: float) -> Seen:
    counted, cause = ("success", "ok") if outcome.exit_code == 0 else _COUNTED[outcome.kind]
    text = outcome.output.decode(errors="replace")
    is_error = outcome.kind == "error"
    seen: Seen = {
        "outcome": counted,
        "output": "" if is_error else text,
        "error": text if is_error else None,
        "cause": cause,
        "duration_ms": duration_ms,
        "phases_ms": {"exec": duration_ms},
        "result": "unknown" if is_error else counted,
    }
    if outcome.kind == "exit":
        seen["exit_code"] = outcome.exit_code
    if not is_error and text.encode() != outcome.output:
        seen |= exact(outcome.output)
    return seen
