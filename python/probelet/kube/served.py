"""Mirrors a kind that the cluster may not serve: the CustomResourceDefinition of another project."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, Literal, NoReturn, TypeAlias, TypeVar

import structlog

from probelet.kube.clock import Clock
from probelet.kube.connection import Connection
from probelet.kube.error import KubeError, NotFound
from probelet.kube.kind import Kind
from probelet.kube.mirror import Key
from probelet.kube.pace import Pace
from probelet.kube.reflector import Reflector
from probelet.kube.retry import Retry
from probelet.kube.waiting import ended

LOOK_NS: Final = 60_000_000_000
"""How long after a cluster said that it does not serve a kind it is asked again."""

Served: TypeAlias = Literal["absent", "served", "unreadable"]

T = TypeVar("T")

log = structlog.get_logger("probelet.kube")


class ServedMirror(Generic[T]):
    """A ``Reflector`` that runs while the kind is served; the parameters are its own.

    ``on_served`` gets each change of ``state``, and ``on_answer`` is called once, after the first answer or failure.
    ``look_ns`` says how long to wait after the cluster has said so many times in a row that it does not serve the kind.
    """

    def __init__(
        self,
        connection: Connection,
        kind: Kind,
        decode: Callable[[dict[str, Any]], T | None],
        *,
        clock: Clock,
        on_change: Callable[[T | None, T | None], None],
        on_served: Callable[[Served], None] = lambda served: None,
        on_answer: Callable[[], None] = lambda: None,
        fields: str = "",
        look_ns: Callable[[int], int] = lambda times: LOOK_NS,
    ) -> None:
        self.state: Served = "unreadable"
        self._connection = connection
        self._kind = kind
        self._clock = clock
        self._on_served = on_served
        self._on_answer = on_answer
        self._is_answered = False
        self._fields = fields
        self._look_ns = look_ns
        self._lost = asyncio.Event()
        self._retry = Retry(clock, Pace())
        self._logged = ""
        self._reflector = Reflector(
            connection,
            kind,
            decode,
            clock=clock,
            on_change=on_change,
            on_connected=self._connected,
            fields=fields,
        )

    @property
    def items(self) -> Mapping[Key, T]:
        """The objects by namespace and name, as the cluster had them when the kind was last served."""
        return self._reflector.items

    def hurry(self) -> None:
        """The server answers others: ends the wait for it."""
        self._retry.hurry()

    async def run(self) -> NoReturn:
        """Keeps the mirror until the task is cancelled."""
        self._on_served(self.state)
        absences = 0
        while True:
            try:
                await self._connection.version(self._kind, fields=self._fields)
            except NotFound:
                if not absences:
                    log.info(f"{self._kind.resource} is not served by the cluster; asking again from time to time")
                absences += 1
                self._set_state("absent")
                await self._clock.sleep(self._look_ns(absences))
            except KubeError as error:
                if str(error) != self._logged:
                    self._logged = str(error)
                    log.warning(f"cannot {error}", server=self._connection.server)
                self._set_state("unreadable")
                # A server that was away may have forgotten the mirror's version.
                self._reflector.list_again()
                await self._retry.after(error)
            else:
                absences, self._logged = 0, ""
                await self._mirror_until_lost()
                await self._retry.after()

    async def _mirror_until_lost(self) -> None:
        self._lost.clear()
        mirroring = asyncio.create_task(self._reflector.run())
        try:
            await self._lost.wait()
        finally:
            await ended(mirroring)

    def _connected(self, is_up: bool) -> None:
        self._set_state("served" if is_up else "unreadable")
        if not is_up:
            self._lost.set()

    def _set_state(self, state: Served) -> None:
        if state != self.state:
            self.state = state
            self._on_served(state)
        if not self._is_answered:
            self._is_answered = True
            self._on_answer()
