"""The calls of ``probelet.v1.Prober`` on an engine of its own, or on the engine of a node that runs pods too."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeVar

from probelet._rust import Engine, EventRecord, ExecRun, Update
from probelet.errors import InvalidInputError
from probelet.runtime.execs.runtime_execs import RuntimeExecs
from probelet.service.caller_execs import CallerExecs
from probelet.service.error import RequestError
from probelet.service.events import Events
from probelet.service.holdings import Holdings
from probelet.service.json_object import decode_object
from probelet.service.limit import DESIRED_MAX, MESSAGE_BYTES_MAX
from probelet.service.pod import check_pod, required_uid
from probelet.service.results import Results
from probelet.service.rules import KUBELETS, Rules
from probelet.service.status import container_ids, containers, engine_status, fill
from probelet.service.v1 import prober_pb2 as pb

T = TypeVar("T")


class HandedOverPods:
    """The pods that another node agent hands over to be probed; that agent keeps their statuses. On one event loop.

    ``rules`` are the node's options for the pods of others. ``execs`` carries out exec probes on a runtime; without it
    the caller does. On the engine of a node that runs pods too, ``claimed`` says whether the node has a pod with this
    UID, ``claimant`` names the node's pod that has a container, and ``released`` is called when a pod is no longer
    handed over. An engine of its own gives it every batch (``host.batches.Subscriber``).
    """

    def __init__(
        self,
        engine: Engine,
        execs: RuntimeExecs | None = None,
        *,
        rules: Rules = KUBELETS,
        claimed: Callable[[str], bool] = lambda _: False,
        claimant: Callable[[str], str | None] = lambda _: None,
        released: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._engine = engine
        self._rules = rules
        self._claimed = claimed
        self._claimant = claimant
        self._released = released
        self.results = Results()
        """The results that callers read."""
        self._events = Events(rules.message)
        self.exec_counts = None if execs is None else execs.counts
        """The counts of exec attempts on a runtime; None if the caller carries them out."""
        self._callers = CallerExecs(engine)
        self.start_execs = self._callers.start if execs is None else execs.start
        """Begins exec attempts of the engine."""
        self._held = Holdings(engine)

    @property
    def pods(self) -> int:
        """How many pods are handed over."""
        return len(self._held.known)

    @property
    def names(self) -> Mapping[str, tuple[str, str]]:
        """Namespace and name of each pod, by its UID; both are empty until the pod is added."""
        return {uid: (held.namespace, held.name) for uid, held in self._held.known.items()}

    def owns(self, uid: str) -> bool:
        """Whether this pod is handed over."""
        return uid in self._held.known

    def sift(
        self, events: list[EventRecord], updates: list[Update], execs: list[ExecRun]
    ) -> tuple[list[EventRecord], list[Update], list[ExecRun]]:
        """Takes the part of a batch that is about the pods handed over; returns the rest.

        A result that callers know stays theirs until it is removed, even if its pod is removed first.
        """
        pods = self._held.known
        theirs = [update for update in updates if update.pod_uid in pods or self.results.has(update)]
        self.handle([event for event in events if event.pod_uid in pods], theirs)
        self.start_execs([run for run in execs if run.pod_uid in pods])
        taken = set(map(id, theirs))
        return (
            [event for event in events if event.pod_uid not in pods],
            [update for update in updates if id(update) not in taken],
            [run for run in execs if run.pod_uid not in pods],
        )

    def handle(self, events: list[EventRecord], updates: list[Update]) -> None:
        """Passes events and results on to the callers that follow them."""
        for event in events:
            self._events.record(event)
        for update in updates:
            self.results.change(update)

    def request_sync(self, uid: str) -> None:
        """Does nothing: the caller syncs the pod, by the results that it reads."""

    # The calls, named as the RPCs.

    async def add_pod(self, request: pb.AddPodRequest) -> pb.AddPodResponse:
        pod = check_pod(request.pod, self._rules)
        held = self._held.with_pod(self._unclaimed(pod.uid), pod)
        _taken(lambda: self._engine.add_pod(pod.document), "pod")
        self._held.keep(pod.uid, held)
        return pb.AddPodResponse()

    async def set_pod_status(self, request: pb.SetPodStatusRequest) -> pb.SetPodStatusResponse:
        uid, status = required_uid(request.pod_uid, "pod_uid"), decode_object(request.status, "status")
        given = self._status(status)
        held = self._held.with_status(self._unclaimed(uid), given, containers(status))
        _taken(lambda: self._engine.set_pod_status(uid, given), "status")
        self._held.keep(uid, held)
        return pb.SetPodStatusResponse()

    async def remove_pod_status(self, request: pb.RemovePodStatusRequest) -> pb.RemovePodStatusResponse:
        if self.owns(request.pod_uid):
            self._forget(request.pod_uid)
        return pb.RemovePodStatusResponse()

    async def update_pod_status(self, request: pb.UpdatePodStatusRequest) -> pb.UpdatePodStatusResponse:
        pod = check_pod(request.pod, self._rules)
        uid = self._unclaimed(pod.uid)
        status = decode_object(request.status, "status")
        given = self._status(status)
        _taken(lambda: self._engine.define_pod(pod.document), "pod")
        try:
            filled = _taken(lambda: self._engine.update_pod_status(uid, given), "status")
        finally:
            if not self.owns(uid):
                # A kubelet fills statuses before it adds a pod and after it has removed the pod, too.
                self._engine.forget_pod(uid)
        return pb.UpdatePodStatusResponse(status=fill(status, filled))

    async def remove_pod(self, request: pb.RemovePodRequest) -> pb.RemovePodResponse:
        if self.owns(request.pod_uid):
            self._engine.remove_pod(request.pod_uid)
        return pb.RemovePodResponse()

    async def stop_liveness_and_startup(
        self, request: pb.StopLivenessAndStartupRequest
    ) -> pb.StopLivenessAndStartupResponse:
        if self.owns(request.pod_uid):
            self._engine.stop_liveness_and_startup(request.pod_uid)
        return pb.StopLivenessAndStartupResponse()

    async def cleanup_pods(self, request: pb.CleanupPodsRequest) -> pb.CleanupPodsResponse:
        if (count := len(request.desired_pod_uids)) > DESIRED_MAX:
            raise RequestError(
                "INVALID_ARGUMENT", f"desired_pod_uids: Too many: {count}: must have at most {DESIRED_MAX} items"
            )
        for uid in self._held.known.keys() - set(request.desired_pod_uids):
            self._forget(uid)
        return pb.CleanupPodsResponse()

    async def list_results(self, request: pb.ListResultsRequest) -> pb.ListResultsResponse:
        response = pb.ListResultsResponse(sequence=self.results.sequence, results=self.results.all())
        if (size := response.ByteSize()) > MESSAGE_BYTES_MAX:
            raise RequestError(
                "RESOURCE_EXHAUSTED", f"the results have {size} bytes: too many for a message; watch them"
            )
        return response

    def watch_results(self, request: pb.WatchResultsRequest) -> AsyncIterator[pb.WatchResultsResponse]:
        return self.results.follow()

    def watch_events(self, request: pb.WatchEventsRequest) -> AsyncIterator[pb.Event]:
        return self._events.follow()

    def carry_out_execs(self, answers: AsyncIterator[pb.ExecAnswer]) -> AsyncIterator[pb.ExecAttempt]:
        return self._callers.serve(answers)

    def _status(self, status: dict[str, Any]) -> bytes:
        """The status as the engine takes it. Refuses a container ID of the node's own pods, because results belong to a
        container ID: two pods with the same ID would share them."""
        given = engine_status(status)
        for path, container_id in container_ids(status):
            if (pod := self._claimant(container_id)) is not None:
                raise RequestError(
                    "ALREADY_EXISTS",
                    f'{path}: "{container_id}": this probelet runs this container itself, in pod {pod}',
                )
        return given

    def _unclaimed(self, uid: str) -> str:
        if not self.owns(uid) and self._claimed(uid):
            raise RequestError(
                "ALREADY_EXISTS", f'metadata.uid: "{uid}": this probelet runs a pod with this UID itself'
            )
        return uid

    def _forget(self, uid: str) -> None:
        self._held.forget(uid)
        self._engine.forget_pod(uid)
        self._released(uid)


def _taken(call: Callable[[], T], what: str) -> T:
    """Returns the engine's answer. It reads the documents once more, with an eye of its own."""
    try:
        return call()
    except InvalidInputError as error:
        raise RequestError("INVALID_ARGUMENT", f"{what}: {error}") from error
