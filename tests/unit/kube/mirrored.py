"""A reflector of pods that runs, and what it reported."""

import asyncio
from types import TracebackType
from typing import Any, Self

from probelet.kube.connection import Connection
from probelet.kube.kinds import PODS
from probelet.kube.reflector import Reflector

from tests.support.kube_api import KubeApi
from tests.unit.kube.virtual_clock import SECOND, VirtualClock, until

BACK_OFF_MAX_NS = 60 * SECOND
"""Twice the longest delay; the watchdog waits longer."""

NAMESPACE = "d"


def read(found: dict[str, Any]) -> str:
    """A pod as its name and its label ``v``; a pod without it cannot be read."""
    return str(found["metadata"]["name"]) + ":" + str(found["metadata"]["labels"]["v"])


class Mirrored:
    """The reflector; while the context lasts it runs."""

    def __init__(self, api: KubeApi, connection: Connection, clock: VirtualClock) -> None:
        self.changes: list[tuple[str | None, str | None]] = []
        self.connected: list[bool] = []
        self._api = api
        self._clock = clock
        self.reflector: Reflector[str] = Reflector(
            connection,
            PODS,
            read,
            clock=clock,
            on_change=lambda before, now: self.changes.append((before, now)),
            on_connected=self.connected.append,
            chance=lambda: 0.5,
        )

    async def __aenter__(self) -> Self:
        self._running = asyncio.create_task(self.reflector.run())
        await until(self.reflector.synced.is_set)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._running.cancel()
        await asyncio.wait([self._running])
        assert self._running.cancelled(), "the loop never ends by itself"

    def put(self, name: str, value: str) -> None:
        self._api.put(PODS, {"metadata": {"name": name, "namespace": NAMESPACE, "labels": {"v": value}}})

    def remove(self, name: str) -> None:
        self._api.remove(PODS, name, NAMESPACE)

    @property
    def items(self) -> list[str]:
        return sorted(self.reflector.items.values())

    async def until(self, *items: str) -> None:
        """Waits until the reflector has these items."""
        await until(lambda: self.items == sorted(items))

    async def backed_off(self) -> int:
        """Waits until the reflector sleeps after a failure; returns for how long.

        A back-off is at most a minute; other waits are those of the watchdog.
        """
        await until(lambda: not self.reflector.connected and self._clock.sleeps(BACK_OFF_MAX_NS))
        return self._clock.pending()[0]

    async def go_on(self, *items: str) -> None:
        """Ends each back-off until the reflector watches and has these items."""

        def reached() -> bool:
            if not self.reflector.connected and self._clock.sleeps(BACK_OFF_MAX_NS):
                self._clock.advance(self._clock.pending()[0])
            return self.reflector.connected and bool(self._api.watches) and self.items == sorted(items)

        await until(reached)
