"""Owns an embedded runtime: ``owner.py STATE_DIR COUNT COMMAND...`` starts COUNT pods and waits to be killed.

``{}`` in the command is the pod's number. Writes the guard's pid to stdout when all pods run.
"""

import asyncio
import sys
from pathlib import Path

from probelet.runtime.cri import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.launch import launch


async def main(state_dir: str, count: str, *command: str) -> None:
    runtime = await launch(Path(state_dir))
    client = RuntimeClient(runtime.endpoint)
    for number in range(int(count)):
        config = api_pb2.PodSandboxConfig(
            metadata=api_pb2.PodSandboxMetadata(name=f"pod-{number}", namespace="default", uid=str(number)),
            log_directory=str(runtime.log_directory / str(number)),
        )
        sandbox = await client.run_pod_sandbox(config)
        container = api_pb2.ContainerConfig(
            metadata=api_pb2.ContainerMetadata(name="app"),
            command=[word.replace("{}", str(number)) for word in command],
            log_path="app/0.log",
        )
        await client.start_container(await client.create_container(sandbox, container, config))
    sys.stdout.write(f"{runtime.process.pid}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


asyncio.run(main(*sys.argv[1:]))
