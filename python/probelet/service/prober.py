"""The calls of ``probelet.v1.Prober`` on an engine of its own."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import structlog

from probelet._rust import Batch, Engine
from probelet.cri.client import RuntimeClient
from probelet.service.error import RequestError
from probelet.service.events import Events
from probelet.service.execs import CallerExecs, Execs, RuntimeExecs
from probelet.service.limit import PODS_MAX
from probelet.service.results import Results
from probelet.service.status import decode_object, engine_status, fill
from probelet.service.v1 import prober_pb2 as pb

log = structlog.get_logger("probelet.service")


class Prober:
    """The engine is the caller's, made without glue: who calls keeps the statuses. On one event loop.

    With ``client`` exec probes go to its runtime, otherwise through the caller.
    """

    def __init__(self, engine: Engine, client: RuntimeClient | None = None) -> None:
        self._engine = engine
        self._results = Results()
        self._events = Events()
        self._callers = CallerExecs(engine)
        self._execs: Execs = self._callers if client is None else RuntimeExecs(client, engine)
        # Pods with workers or a status, which is what the engine keeps something of.
        self._pods: set[str] = set()

    def watch(self) -> None:
        """Read the engine's batches on the running loop from now on."""
        asyncio.get_running_loop().add_reader(self._engine.fileno(), lambda: self._dispatch(self._engine.drain()))

    def close(self) -> None:
        """Read no more."""
        asyncio.get_running_loop().remove_reader(self._engine.fileno())

    def _dispatch(self, batch: Batch) -> None:
        for event in batch.events:
            self._events.record(event)
        for update in batch.updates:
            self._results.change(update)
        self._execs.start(batch.execs)
        for level, text in batch.notices:
            (log.warning if level == "warning" else log.info)(text)

    # The calls, named as the RPCs.

    async def add_pod(self, request: pb.AddPodRequest) -> pb.AddPodResponse:
        self._keep(_uid(request.pod))
        _checked(self._engine.add_pod, request.pod)
        return pb.AddPodResponse()

    async def set_pod_status(self, request: pb.SetPodStatusRequest) -> pb.SetPodStatusResponse:
        status = engine_status(decode_object(request.status, "status"))
        self._keep(_required(request.pod_uid))
        _checked(self._engine.set_pod_status, request.pod_uid, status)
        return pb.SetPodStatusResponse()

    async def remove_pod_status(self, request: pb.RemovePodStatusRequest) -> pb.RemovePodStatusResponse:
        self._forget(request.pod_uid)
        return pb.RemovePodStatusResponse()

    async def update_pod_status(self, request: pb.UpdatePodStatusRequest) -> pb.UpdatePodStatusResponse:
        uid = _uid(request.pod)
        status = decode_object(request.status, "status")
        given = engine_status(status)
        _checked(self._engine.define_pod, request.pod)
        try:
            filled = _checked(self._engine.update_pod_status, uid, given)
        finally:
            if uid not in self._pods:
                # A kubelet fills statuses also before it adds a pod and after it removed it.
                self._engine.forget_pod(uid)
        return pb.UpdatePodStatusResponse(status=fill(status, filled))

    async def remove_pod(self, request: pb.RemovePodRequest) -> pb.RemovePodResponse:
        self._engine.remove_pod(request.pod_uid)
        return pb.RemovePodResponse()

    async def stop_liveness_and_startup(
        self, request: pb.StopLivenessAndStartupRequest
    ) -> pb.StopLivenessAndStartupResponse:
        self._engine.stop_liveness_and_startup(request.pod_uid)
        return pb.StopLivenessAndStartupResponse()

    async def cleanup_pods(self, request: pb.CleanupPodsRequest) -> pb.CleanupPodsResponse:
        desired = set(request.desired_pod_uids)
        self._engine.cleanup_pods(list(desired))
        for uid in self._pods - desired:
            self._forget(uid)
        return pb.CleanupPodsResponse()

    async def list_results(self, request: pb.ListResultsRequest) -> pb.ListResultsResponse:
        return pb.ListResultsResponse(sequence=self._results.sequence, results=self._results.all())

    def watch_results(self, request: pb.WatchResultsRequest) -> AsyncIterator[pb.WatchResultsResponse]:
        return self._results.follow()

    def watch_events(self, request: pb.WatchEventsRequest) -> AsyncIterator[pb.Event]:
        return self._events.follow()

    def carry_out_execs(self, answers: AsyncIterator[pb.ExecAnswer]) -> AsyncIterator[pb.ExecAttempt]:
        return self._callers.serve(answers)

    def _keep(self, uid: str) -> None:
        if uid not in self._pods and len(self._pods) >= PODS_MAX:
            raise RequestError("RESOURCE_EXHAUSTED", f"{PODS_MAX} pods are known already")
        self._pods.add(uid)

    def _forget(self, uid: str) -> None:
        self._pods.discard(uid)
        self._engine.forget_pod(uid)


def _uid(pod: bytes) -> str:
    metadata = decode_object(pod, "pod").get("metadata")
    return _required(metadata.get("uid") if isinstance(metadata, dict) else None)


def _required(uid: Any) -> str:
    if not isinstance(uid, str) or not uid:
        raise RequestError("INVALID_ARGUMENT", "metadata.uid: Required value")
    return uid


def _checked(call: Any, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except ValueError as error:
        raise RequestError("INVALID_ARGUMENT", str(error)) from error
