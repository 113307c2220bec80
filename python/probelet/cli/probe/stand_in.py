"""``probe --from --stand-in``: a stand-in answers in the place of the container, by the rule of ``run --stand-in``."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from probelet.cli.exit import CliError, Exit
from probelet.cli.probe.attempt import over_socket, repeated
from probelet.cli.probe.document import Seen
from probelet.cli.probe.exec import attempt_in
from probelet.cli.probe.own_runtime import own_runtime, sandbox_of
from probelet.cli.probe.target import Target
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.errors import CriError
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.launch import LaunchError
from probelet.runtime.embedded.stand_in.plan import Behaviour
from probelet.runtime.embedded.stand_in.pod import with_stand_ins

UP_SECONDS: Final = 30.0
"""Time for a stand-in to listen; an idle machine needs a fifth of a second."""
LOOK_AGAIN_SECONDS: Final = 0.02
LOG: Final = "stand-in.log"


def ask_stand_in(target: Target, tries: int, kubelet_version: str) -> tuple[Seen, Target]:
    """Like ``attempt.ask``; returns the target too, with the address that was asked. Raises CliError."""
    played = _played(target)
    with asyncio.Runner() as runner, _begun(runner, played) as (client, container_id, address):
        asked = replace(played, pod_ip=address)
        if asked.probe.handler == "exec":
            seen = repeated(lambda: runner.run(attempt_in(client, container_id, asked)), tries)
        else:
            seen = repeated(lambda: over_socket(asked, kubelet_version), tries)
    return seen, replace(target, pod_ip=address, title=f"{target.title}, answered by a stand-in")


def _played(target: Target) -> Target:
    """The target with the stand-in's program and the probe that it is asked."""
    name = target.container.name
    pod, names = with_stand_ins(target.pod, target.pod.metadata.name, lambda workload, container: Behaviour())
    if name not in names:
        raise CliError(f"--stand-in: container {name} has a program on this machine and no image; run it: probelet run")
    (container,) = (each for _, each in pod.spec.each_container() if each.name == name)
    (probe_type,) = (kind for kind, probe in target.container.probes.items() if probe is target.probe)
    return replace(target, pod=pod, container=container, probe=container.probes[probe_type])


@contextmanager
def _begun(runner: asyncio.Runner, target: Target) -> Iterator[tuple[RuntimeClient, str, str]]:
    stack = AsyncExitStack()
    try:
        client, container_id, address, log = runner.run(_start(stack, target))
        _wait_until_up(log)
        yield client, container_id, address
    except (CriError, LaunchError) as error:
        raise CliError(str(error), code=Exit.CANNOT) from error
    finally:
        runner.run(stack.aclose())


async def _start(stack: AsyncExitStack, target: Target) -> tuple[RuntimeClient, str, str, Path]:
    """Starts the container; returns the runtime's client, the container, its pod's address and its log."""
    embedded, client = await own_runtime(stack)
    sandbox, container = sandbox_of(target, embedded.log_directory), target.container
    embedded.log_directory.mkdir(exist_ok=True)
    sandbox_id = await client.run_pod_sandbox(sandbox)
    address = (await client.pod_sandbox_status(sandbox_id)).status.network.ip
    config = api_pb2.ContainerConfig(
        metadata=api_pb2.ContainerMetadata(name=container.name),
        command=container.command,
        envs=[api_pb2.KeyValue(key=entry.name, value=entry.value.encode()) for entry in container.env],
        log_path=LOG,
    )
    container_id = await client.create_container(sandbox_id, config, sandbox)
    await client.start_container(container_id)
    return client, container_id, address, embedded.log_directory / LOG


def _wait_until_up(log: Path) -> None:
    """The first line of a stand-in's log says that it serves."""
    deadline = time.monotonic() + UP_SECONDS
    while not (log.exists() and log.read_bytes()):
        if time.monotonic() > deadline:
            raise CliError(f"the stand-in did not begin within {UP_SECONDS:g} s", code=Exit.CANNOT)
        time.sleep(LOOK_AGAIN_SECONDS)
