"""Enhanced liveness on this node: the NodePodProbe, its probes and its status, put together."""

from collections.abc import Container
from typing import Any, Final

from probelet.agent.enhanced.dependencies import EnhancedDependencies
from probelet.agent.enhanced.metrics import EnhancedNumbers, render
from probelet.agent.enhanced.probes import EnhancedProbes
from probelet.agent.enhanced.status_writer import StatusWriter
from probelet.beside.probes.publishing import Publishing
from probelet.beside.probes.report import Report, read_reports
from probelet.beside.probes.wanted import Key, read_wanted
from probelet.kube.kinds import NODE_POD_PROBES
from probelet.kube.served import LOOK_NS, Served, ServedMirror

LOOKS_MAX: Final = 5
"""A cluster without the kind is asked after one minute, then after two more, and at last every five: each node asks."""


class Enhanced:
    """``start`` once the runtime is known, ``observe`` with news of a pod, ``close`` at the end."""

    def __init__(self, dependencies: EnhancedDependencies) -> None:
        self._dependencies = dependencies
        self._host = dependencies.host
        self._was_absent = False
        self._publishing = Publishing()
        self.probes = EnhancedProbes(
            dependencies, on_added=self._added, on_report=self._reported, on_removed=self._removed
        )
        self.writer = StatusWriter(
            dependencies.connection, dependencies.host.timers, self._publishing, self.probes.reports
        )
        self._mirror = ServedMirror(
            dependencies.connection,
            NODE_POD_PROBES,
            self._decode,
            clock=dependencies.host.timers,
            on_change=self._changed,
            on_served=self._served,
            fields=f"metadata.name={dependencies.host.node}",
            look_ns=lambda times: LOOK_NS * min(times, LOOKS_MAX),
        )

    @property
    def pods(self) -> Container[str]:
        """The UIDs of the pods that have a probe, a view that changes."""
        return self.probes.by_pod

    def start(self) -> None:
        """Follows the object from now on."""
        self._host.tasks.spawn(self._mirror.run())
        self._host.tasks.spawn(self.writer.run())

    def observe(self, uid: str) -> None:
        """The runtime or the API server has news of a pod."""
        self.probes.observe(uid)

    async def close(self) -> None:
        """Ends all probes; the status stays as it is."""
        await self.probes.close()

    def metrics(self) -> bytes:
        """The part of the page ``/metrics``; empty until the node has a probe."""
        engine = self.probes.engine
        if engine is None:
            return b""
        probes = sum(len(probes) for probes in self.probes.by_pod.values())
        numbers = EnhancedNumbers(probes, self.probes.refused, self.writer.counts)
        return render(numbers) + engine.metrics_enhanced()

    # What the API server says.

    def _decode(self, found: dict[str, Any]) -> dict[str, Any] | None:
        """The object of this node: a server or proxy that ignores selectors must not give this node others' probes."""
        return found if found["metadata"]["name"] == self._host.node else None

    def _changed(self, before: dict[str, Any] | None, now: dict[str, Any] | None) -> None:
        if now is None:
            self.probes.set({}, {})
        elif before is None or before.get("spec") != now.get("spec"):
            self.probes.set(read_wanted(now), read_reports(now))
        self.writer.found(now)

    def _served(self, served: Served) -> None:
        if served == "absent":
            # Its definition was deleted, and all objects with it; no event of a watch says so.
            self._was_absent = True
            self._changed(None, None)
        elif served == "served":
            if self._was_absent:
                # If it was the server that was wrong, the object is as before, and the mirror reports no change.
                self._was_absent = False
                self._changed(None, next(iter(self._mirror.items.values()), None))
            self.writer.hurry()
            self._dependencies.on_served()

    # What the probes say.

    def _added(self, key: Key, shown: Report | None) -> None:
        self._publishing.begin(key, shown, self._host.timers.now())
        self.writer.wake()

    def _reported(self, key: Key, report: Report) -> None:
        self._publishing.record(key, report, self._host.timers.now())
        self.writer.wake()

    def _removed(self, key: Key) -> None:
        self._publishing.forget(key, self._host.timers.now())
        self.writer.wake()
