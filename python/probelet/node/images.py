"""Images of the node: looked at, and pulled one after the other.

Kubelet pkg/kubelet/images/puller.go (serializeImagePulls, true by default) and kuberuntime/kuberuntime_image.go, 1.36.
"""

import asyncio
from collections.abc import Callable

from probelet.cri import errors
from probelet.cri.client import RuntimeClient
from probelet.cri.v1 import api_pb2
from probelet.policy.action import Outcome, Pull


class Images:
    """The image service of one runtime. ``now`` is the engine's clock, in nanoseconds."""

    def __init__(self, client: RuntimeClient, now: Callable[[], int]) -> None:
        self.waiting = 0
        """Pulls that wait for the one under way."""
        self._client = client
        self._now = now
        self._turn = asyncio.Lock()

    async def inspect(self, image: str) -> Outcome:
        """What containers of this image are created from; an empty id when it is missing. Raises CriError."""
        found = await self._client.image_status(image)
        return Outcome(id="" if found is None else found.id)

    async def pull(self, image: str, sandbox_config: api_pb2.PodSandboxConfig) -> Outcome:
        """Pull when it is this image's turn. Raises CriError."""
        asked = self._now()
        self.waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self.waiting -= 1
        try:
            begun = self._now()
            ref = await self._client.pull_image(image, sandbox_config)
            ended = self._now()
        finally:
            self._turn.release()
        return Outcome(id=ref, pull=Pull(ended - begun, ended - asked, await self._size(image)))

    async def _size(self, image: str) -> int:
        """For a text only: that it cannot be told fails no pull."""
        try:
            found = await self._client.image_status(image)
        except errors.CriError:
            return 0
        return 0 if found is None else found.size
