"""A lease that says that a process lives, renewed as a kubelet renews the lease of its node.

k8s.io/component-helpers apimachinery/lease/controller.go, 1.36.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

import structlog

from probelet.base.exposition.timestamp import rfc3339_micro
from probelet.kube.clock import Clock
from probelet.kube.connection import Connection, Object
from probelet.kube.error import AlreadyExists, Conflict, KubeError, NotFound
from probelet.kube.kinds import LEASES
from probelet.kube.pace import Pace
from probelet.spec.text.duration import SECOND

DURATION_SECONDS: Final = 40
"""``nodeLeaseDurationSeconds`` of a kubelet: a holder that is silent for longer counts as gone."""

RENEW_NS: Final = 10 * SECOND
"""A quarter of the duration, as a kubelet renews (``nodeLeaseRenewIntervalFraction``)."""

JITTER: Final = 0.04
"""So much longer by chance, so that the leases of a cluster are not renewed together."""

FIRST_RETRY_NS: Final = 200_000_000
LONGEST_RETRY_NS: Final = 7 * SECOND
"""``maxBackoff``."""

log = structlog.get_logger("probelet.kube")


class Heartbeat:
    """Keeps the lease ``namespace/name`` with ``holder``. Another holder's lease is taken over: the caller makes sure
    that one process has the name."""

    def __init__(
        self,
        connection: Connection,
        name: str,
        namespace: str,
        holder: str,
        clock: Clock,
        *,
        duration_seconds: int = DURATION_SECONDS,
        renew_ns: int = RENEW_NS,
        labels: Mapping[str, str] | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.renewed_ns = 0
        """When the lease was last renewed, on the clock's ``now``; 0 before that."""
        self._connection = connection
        self._metadata: dict[str, Any] = {"name": name, "namespace": namespace}
        if labels:
            self._metadata["labels"] = dict(labels)
        self._holder = holder
        self._clock = clock
        self._duration_seconds = duration_seconds
        self._renew_ns = renew_ns
        self._chance = chance
        self._pace = Pace(FIRST_RETRY_NS, LONGEST_RETRY_NS, chance=chance)
        self._lease: Object | None = None
        self._logged = ""

    async def run(self) -> NoReturn:
        """Renews the lease until the task is cancelled. A server that is away costs a log line and a back-off."""
        while True:
            try:
                await self.renew()
            except KubeError as error:
                if str(error) != self._logged:
                    self._logged = str(error)
                    log.warning("the lease cannot be renewed", reason=str(error))
                await self._clock.sleep(self._pace.after_failure(self._clock.now(), error.retry_after_ns))
            else:
                self._logged = ""
                self.renewed_ns = self._clock.now()
                await self._clock.sleep(int(self._renew_ns * (1 + JITTER * self._chance())))

    async def renew(self) -> None:
        """Renews the lease once, and makes it if there is none. Raises KubeError."""
        # The lease as it was last written saves a request: nobody else writes it.
        if self._lease is not None:
            try:
                self._lease = await self._connection.replace(LEASES, self._renewed(self._lease))
            except (Conflict, NotFound):
                self._lease = None
            else:
                return
        try:
            found = await self._connection.get(LEASES, self._metadata["name"], self._metadata["namespace"])
        except NotFound:
            try:
                self._lease = await self._connection.create(LEASES, self._renewed({"metadata": self._metadata}))
            except AlreadyExists:
                found = await self._connection.get(LEASES, self._metadata["name"], self._metadata["namespace"])
            else:
                return
        self._lease = await self._connection.replace(LEASES, self._renewed(found))

    def _renewed(self, lease: Object) -> Object:
        spec = {
            "holderIdentity": self._holder,
            "leaseDurationSeconds": self._duration_seconds,
            "renewTime": rfc3339_micro(self._clock.wall_ns()),
        }
        return lease | {"metadata": lease["metadata"] | self._metadata, "spec": spec}
