"""The node's images: inspects them and pulls them, one at a time unless the configuration allows more.

Kubelet pkg/kubelet/images/puller.go (serializeImagePulls, maxParallelImagePulls) and
kuberuntime/kuberuntime_image.go, 1.36.
"""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext

from probelet.policy.protocol.effects import Outcome, Pull
from probelet.runtime.cri import errors
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2


class Images:
    """The image service of one runtime.

    ``now`` is the engine's clock, in nanoseconds; ``parallel`` is how many pulls there may be at once, None for any
    number.
    """

    def __init__(self, client: RuntimeClient, now: Callable[[], int], parallel: int | None = 1) -> None:
        self._client = client
        self._now = now
        # A semaphore wakes in the order of the calls, so pulls are first come, first served.
        self._turns = None if parallel is None else asyncio.Semaphore(parallel)

    async def inspect(self, image: str) -> Outcome:
        """The id from which containers of this image are created; empty if the image is missing. Raises CriError."""
        found = await self._client.image_status(image)
        return Outcome(id="" if found is None else found.id)

    async def pull(self, image: str, sandbox_config: api_pb2.PodSandboxConfig) -> Outcome:
        """Waits for this image's turn and pulls it. Raises CriError."""
        asked = self._now()
        async with self._turns or nullcontext():
            begun = self._now()
            ref = await self._client.pull_image(image, sandbox_config)
            ended = self._now()
        return Outcome(id=ref, pull=Pull(ended - begun, ended - asked, await self._size(image)))

    async def _size(self, image: str) -> int:
        """The image's size, or 0 if the runtime cannot tell: only a text shows it, so that fails no pull."""
        try:
            found = await self._client.image_status(image)
        except errors.CriError:
            return 0
        return 0 if found is None else found.size
