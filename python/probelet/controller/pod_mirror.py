"""The one mirror of all pods: for enhanced liveness, and while ``agent.unreadyAfter`` is on for the takeover too.

No selector finds an annotation, so every pod comes, and most are dropped undecoded. A pod that only the takeover needs
is kept only while somebody follows the taken-over pods: the collection is read again when that begins or ends.
"""

import asyncio
from collections.abc import Callable
from typing import Any, NoReturn

import msgspec

from probelet.beside.guard.objects.pod import GuardedPod, guarded_of, read_pod
from probelet.beside.guard.recreate.not_ready import OutOfService, out_of_service
from probelet.beside.takeover.taken_pod import TakenPod, is_taken, taken_of
from probelet.kube.clock import Clock
from probelet.kube.connection import Connection
from probelet.kube.kinds import PODS
from probelet.kube.reflector import Reflector
from probelet.spec.model.pod_object import annotations_of, read_pod_object


class SeenPod(msgspec.Struct, frozen=True, gc=False):
    """The views of one pod: of enhanced liveness, and of the takeover; not both are None."""

    guarded: GuardedPod | None
    taken: TakenPod | None


class Follower(msgspec.Struct, frozen=True):
    """Gets each change of a taken-over pod, before and now, and each change of ``PodMirror.has_taken``."""

    changed: Callable[[TakenPod | None, TakenPod | None], None]
    synced: Callable[[], None]


class PodMirror:
    """``on_guarded`` gets the UID of each pod of enhanced liveness that changed, and the pod if it is still one;
    ``on_connected`` gets each change of the connection; ``on_seen`` which requests keep a pod out of service, of every
    pod."""

    def __init__(
        self,
        connection: Connection,
        clock: Clock,
        on_guarded: Callable[[str, GuardedPod | None], None],
        on_connected: Callable[[bool], None],
        on_seen: Callable[[OutOfService], None] = lambda pod: None,
    ) -> None:
        self.has_taken = False
        """Whether all taken-over pods are known and their changes arrive."""
        self._on_guarded = on_guarded
        self._on_connected = on_connected
        self._on_seen = on_seen
        self._follower: Follower | None = None
        self._list_again = asyncio.Event()
        self._reflector = Reflector(
            connection, PODS, self._decode, clock=clock, on_change=self._changed, on_connected=self._connected
        )

    def hurry(self) -> None:
        """The API server answers others: ends the wait for it."""
        self._reflector.hurry()

    async def run(self) -> NoReturn:
        """Keeps the mirror until the task is cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._list_again.clear()
                tasks = [group.create_task(self._reflector.run()), group.create_task(self._listed())]
                await self._list_again.wait()
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
                self._reflector.list_again()
        raise AssertionError("the mirror ends only by cancellation")

    def follow(self, follower: Follower | None) -> None:
        """Mirrors the taken-over pods too, and reports them; None ends that."""
        if (follower is None) != (self._follower is None):
            self._list_again.set()
        self._follower = follower
        for seen in self._reflector.items.values():
            if follower is not None and seen.taken is not None:
                follower.changed(None, seen.taken)
        self.has_taken = False
        self._sync()

    def _decode(self, found: dict[str, Any]) -> SeenPod | None:
        self._on_seen(out_of_service(found))
        if self._follower is None or not is_taken(annotations_of(found)):
            guarded = read_pod(found)
            return None if guarded is None else SeenPod(guarded, None)
        pod = read_pod_object(found)
        guarded, taken = guarded_of(pod), taken_of(pod)
        return None if guarded is None and taken is None else SeenPod(guarded, taken)

    def _changed(self, before: SeenPod | None, now: SeenPod | None) -> None:
        (guarded_before, taken_before), (guarded, taken) = _parts(before), _parts(now)
        if either := guarded or guarded_before:
            self._on_guarded(either.uid, guarded)
        if self._follower is not None and (taken or taken_before):
            self._follower.changed(taken_before, taken)

    def _connected(self, is_up: bool) -> None:
        self._on_connected(is_up)
        self._sync()

    async def _listed(self) -> None:
        await self._reflector.synced.wait()
        self._sync()

    def _sync(self) -> None:
        is_listed = self._reflector.synced.is_set() and not self._list_again.is_set()
        has_taken = self._follower is not None and is_listed and self._reflector.connected
        if has_taken != self.has_taken:
            self.has_taken = has_taken
            if self._follower is not None:
                self._follower.synced()


def _parts(seen: SeenPod | None) -> tuple[GuardedPod | None, TakenPod | None]:
    return (None, None) if seen is None else (seen.guarded, seen.taken)
