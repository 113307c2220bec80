"""Carries out looks in a thread of their own: the event loop goes on, and only one look runs at a time."""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.listening.foreign import LOOK_SECONDS, Member, Scene, Target, look
from probelet.runtime.embedded.listening.report import ForeignListener, ports_in
from probelet.runtime.embedded.listening.sockets import LookTooLong
from probelet.runtime.embedded.pod.sandbox import Sandbox


class Looks:
    """The looks of one runtime."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "look")

    async def look(self, sandboxes: Iterable[Sandbox]) -> dict[str, ForeignListener]:
        """The foreign listener of each probed port that has one, by ``address:port``. Raises DeadlineExceeded."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, look, _scene(sandboxes))
        except LookTooLong:
            detail = f"the machine's listening sockets cannot be read within {LOOK_SECONDS:g} s of processor time"
            raise errors.DeadlineExceeded(detail) from None


def _scene(sandboxes: Iterable[Sandbox]) -> Scene:
    probed: dict[Target, str] = {}
    members: dict[int, Member] = {}
    for sandbox in sandboxes:
        namespace, name, _, _ = sandbox.name
        for container in sandbox.containers.values():
            # Also one whose first process has ended: others of it may hold their sockets until they are killed.
            if container.state != api_pb2.CONTAINER_RUNNING:
                continue
            pod, within = f"{namespace}/{name}", container.config.metadata.name
            members[container.first_process] = Member(container.id, sandbox.id, pod, within)
            # A pod in a namespace shares no port with another.
            if sandbox.network.ip and sandbox.network.namespace is None:
                probed |= {(sandbox.network.ip, port): sandbox.id for port in ports_in(container.config.annotations)}
    return Scene(probed, members)
