"""A record of every container instance, as the runtime reports it, and of why each one ended.

The soak fills it every second. It misses no instance, because the runtime keeps an ended instance until its successor
has ended as well.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen.labels import restart_count

from benches.soak.containerd.population import CRASH_CODE, ends_by_itself, is_well

CUT_SECONDS = 120.0
"""A start is in flight for at most this long (``runtimeRequestTimeout``); a later kill has not cut it short."""

CALL_SECONDS = 240.0
"""A runtime call is answered or fails within this time (twice ``runtimeRequestTimeout``, for a sandbox)."""

UNKNOWN_CODE = 255
"""The exit code that containerd reports if it was not running when the container exited."""

START_FAILED = "start failed"
"""The reason of log lines about calls that failed to create or start a container."""

KILLED = "killed from outside"
FAILED = "failed its liveness probe"
ENDED = "ended by itself"
REFUSED = "its start failed, and the log has the error"
CUT = "its start was cut by a kill of probelet or containerd"
UNSEEN = "ended by itself while containerd was away"
LOST = "unknown to containerd after a kill of it"
"""containerd was killed while it started the container. A kubelet too kills such a container and starts another."""


@dataclass
class Instance:
    """One container of the runtime. Times are the runtime's, Unix nanoseconds; 0 is never."""

    id: str
    name: str
    count: int
    created_ns: int
    started_ns: int = 0
    finished_ns: int = 0
    exit_code: int | None = None


@dataclass
class Outage:
    """A fault that stopped a daemon, and its end. Times are Unix nanoseconds."""

    what: str
    begin_ns: int
    end_ns: int


@dataclass
class Ledger:
    """Call ``look`` to record the runtime's list; at the end call ``findings``."""

    instances: dict[str, Instance] = field(default_factory=dict)
    killed: set[str] = field(default_factory=set)
    """Instances that the soak itself killed."""
    outages: list[Outage] = field(default_factory=list)
    said: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    """When probelet reported a kill, by container and reason. Times are Unix nanoseconds."""

    async def look(self, client: RuntimeClient) -> None:
        """Records what the runtime lists now. Raises CriError."""
        for found in await client.list_containers():
            known = self.instances.get(found.id)
            if known is None:
                count = restart_count(found.annotations)
                known = self.instances[found.id] = Instance(found.id, found.metadata.name, count, found.created_at)
            is_news = found.state == api_pb2.CONTAINER_EXITED or not known.started_ns
            if known.exit_code is None and is_news and found.state != api_pb2.CONTAINER_CREATED:
                status = (await client.container_status(found.id)).status
                known.started_ns = status.started_at
                if status.state == api_pb2.CONTAINER_EXITED:
                    known.finished_ns, known.exit_code = status.finished_at, status.exit_code

    def of(self, name: str) -> list[Instance]:
        """Returns the instances of a container, oldest first."""
        return sorted((one for one in self.instances.values() if one.name == name), key=lambda one: one.count)

    def cause(self, one: Instance) -> str:
        """Returns why another instance followed this one; empty if no cause is known."""
        if one.id in self.killed:
            return KILLED
        if not one.started_ns:
            near = int(CALL_SECONDS * 1e9)
            if any(abs(at - one.created_ns) <= near for at in self.said.get((one.name, START_FAILED), ())):
                return REFUSED
            last = one.created_ns + int(CUT_SECONDS * 1e9)
            return CUT if any(out.begin_ns <= last and one.created_ns <= out.end_ns for out in self.outages) else ""
        if self._was_said(one, "liveness"):
            return FAILED
        if self._was_said(one, "stopping") and self._containerd_was_away(one):
            return LOST
        if ends_by_itself(one.name) and one.exit_code == CRASH_CODE:
            return ENDED
        unseen = ends_by_itself(one.name) and one.exit_code == UNKNOWN_CODE and self._containerd_was_away(one)
        return UNSEEN if unseen else ""

    def _was_said(self, one: Instance, reason: str) -> bool:
        return any(one.started_ns <= at <= one.finished_ns for at in self.said.get((one.name, reason), ()))

    def _containerd_was_away(self, one: Instance) -> bool:
        away = (out for out in self.outages if out.what == "containerd")
        return any(one.created_ns <= out.end_ns and out.begin_ns <= one.finished_ns for out in away)

    def causes(self) -> Counter[str]:
        """Counts restarts by cause."""
        names = {one.name for one in self.instances.values()}
        return Counter(self.cause(one) for name in names for one in self.of(name)[:-1])

    def findings(self, names: list[str]) -> list[str]:
        """Returns restarts without a cause, restart counts that differ from the number of instances, and overlaps."""
        return [finding for name in names for finding in self._findings(name)]

    def _findings(self, name: str) -> list[str]:
        rows = self.of(name)
        counts = [one.count for one in rows]
        found = [] if counts == list(range(len(rows))) else [f"{name}: instances with the restart counts {counts}"]
        for one, following in pairwise(rows):
            cause = self.cause(one)
            if not cause:
                found.append(f"{name}: nothing explains the end of {one}")
            if cause == FAILED and is_well(name):
                found.append(f"{name}: was killed for its liveness probe, which does not fail: {one}")
            if one.started_ns and following.started_ns and following.started_ns < one.finished_ns:
                found.append(f"{name}: instance {following.count} ran before {one.count} had ended")
        return found
