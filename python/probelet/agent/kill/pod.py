"""The part of a pod that its kills read."""

import asyncio
from typing import Protocol

from probelet.spec.model.pod import Pod


class KilledPod(Protocol):
    """A pod whose container is killed."""

    uid: str
    full_name: str
    pod: Pod
    terminating: asyncio.Event
    """Set once the pod begins to terminate, or is gone: from then on every kill is the kubelet's."""

    def observe(self) -> None:
        """The cache has news of this pod."""
        ...

    def address(self) -> str:
        """The address of the pod, for HTTP hooks; empty without one."""
        ...
