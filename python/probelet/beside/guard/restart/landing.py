"""From a request to the container that is ready again: when a restart is over, and how it ended (R-12, R-14)."""

from probelet.beside.guard.objects.recreate_request import RecreateRequest
from probelet.beside.guard.restart.outbox import Outbox
from probelet.beside.guard.restart.protocol.inputs import RequestKey
from probelet.beside.guard.restart.protocol.outputs import Finished, Regarding
from probelet.beside.guard.restart.state.flights import SETTLE_NS, Flight
from probelet.beside.guard.restart.state.observed_cluster import ObservedCluster


class Landing:
    """Follows the restarts under way. ``ended`` has the restarts that are over; the caller empties it."""

    def __init__(self, cluster: ObservedCluster, outbox: Outbox) -> None:
        self._cluster = cluster
        self._outbox = outbox
        self.ended: list[Flight] = []
        self._noted: set[RequestKey] = set()
        """The requests whose restart the history has."""

    def request(self, key: RequestKey, request: RecreateRequest | None, now: int) -> None:
        """A request was made, changed or deleted."""
        before = self._cluster.requests.get(key)
        self._cluster.change_request(key, request)
        if request is None:
            self._noted.discard(key)
            flight = None if before is None else self._cluster.flights.get(before.pod_uid)
            if before is not None and before.is_live and flight is not None and flight.request == key:
                self._end(flight.uid)
            return
        if not request.is_ours:
            return
        flight = self._cluster.flights.get(request.pod_uid)
        # An end that was there at first sight is another controller's, which has said and counted it; see ``recall``.
        saw_live = flight is not None if before is None else before.is_live
        if flight is None:
            flight = self._found(request, now)
        elif flight.request == key:
            self._noted.add(key)
        if flight is None or flight.request != key:
            return
        if request.is_live:
            flight.until_ns = None
        elif saw_live:
            self._completed(request, flight, now)
        self.pod(request.pod_uid)

    def _found(self, request: RecreateRequest, now: int) -> Flight | None:
        """A restart that another controller began: this one takes it over (F-3)."""
        pod = self._cluster.pods.get(request.pod_uid)
        if pod is None:
            return None
        until = None
        if not request.is_live:
            until = self._settled_ns(request, now)
            if until <= now:
                return None
        flight = Flight(
            uid=pod.uid,
            workload=self._cluster.workloads.root(pod),
            request=(request.namespace, request.name),
            container=request.container,
            container_id=request.instance.container_id,
            until_ns=until,
            incident=self._cluster.incident_id(pod.uid),
        )
        self._cluster.flights.begin(flight)
        return flight

    def _settled_ns(self, request: RecreateRequest, now: int) -> int:
        completed = request.completed_ns
        age = 0 if completed is None else max(0, self._cluster.wall(now) - completed)
        return now + max(0, SETTLE_NS - age)

    def _completed(self, request: RecreateRequest, flight: Flight, now: int) -> None:
        flight.until_ns = now + SETTLE_NS
        flight.reserved.clear()
        duration = max(0, (request.completed_ns or request.created_ns) - request.created_ns)
        self._outbox.put(Finished(request.has_succeeded, duration))
        if not request.has_succeeded:
            self._cluster.history.restarted(f"{request.pod_uid}/{request.container}", now)
            regarding = Regarding("v1", "Pod", request.namespace, request.pod_name, request.pod_uid)
            why = request.message or f"container {request.container}: {request.container_phase or 'no state'}"
            self._outbox.event(regarding, "Warning", "ELPRestartFailed", f"{request.name}: {why}")

    def pod(self, uid: str) -> None:
        """A pod changed; its restart is over once the request is completed and the new container is ready."""
        flight, pod = self._cluster.flights.get(uid), self._cluster.pods.get(uid)
        if flight is None:
            return
        if pod is None:
            self._end(uid)
            return
        request = self._cluster.requests.get(flight.request)
        container = pod.container(flight.container)
        is_over = flight.until_ns is not None and request is not None and not request.is_live
        is_new = container is not None and container.container_id != flight.container_id and container.is_ready
        if is_over and is_new:
            self._end(uid)

    def expire(self, now: int) -> None:
        """Ends the restarts whose time is over."""
        over = [each.uid for each in self._cluster.flights if each.until_ns is not None and each.until_ns <= now]
        for uid in over:
            self._end(uid)

    def recall(self, now: int) -> None:
        """Note the restarts of requests that are there already, oldest first (F-3)."""
        for key, request in sorted(self._cluster.requests.items(), key=lambda item: item[1].created_ns):
            if request.is_ours and key not in self._noted:
                self._noted.add(key)
                self._note(request, request.created_ns, now)
                if request.completed_ns is not None and not request.has_succeeded:
                    self._note(request, request.completed_ns, now)
            if request.is_ours and self._cluster.flights.get(request.pod_uid) is None:
                # Its pod may have come after it.
                self._found(request, now)
                self.pod(request.pod_uid)

    def _note(self, request: RecreateRequest, wall_ns: int, now: int) -> None:
        moment = min(now, max(0, wall_ns - self._cluster.offset_ns))
        self._cluster.history.restarted(f"{request.pod_uid}/{request.container}", moment)

    def rejected(self, uid: str) -> None:
        """A request was refused: the restart does not happen."""
        self._end(uid)

    def _end(self, uid: str) -> None:
        flight = self._cluster.flights.end(uid)
        if flight is not None:
            self.ended.append(flight)
