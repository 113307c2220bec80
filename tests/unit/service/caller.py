"""A Python client of the prober service, over gRPC on its real socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.message_factory import GetMessageClass
from probelet.service.server import OPTIONS, SERVICE
from probelet.service.v1 import prober_pb2 as pb


class Caller:
    """One method for each call of the service; a refusal raises grpc's error."""

    def __init__(self, socket: Path) -> None:
        self.channel = grpc.aio.insecure_channel(f"unix://{socket}", options=OPTIONS)

    def _rpc(self, name: str) -> Any:
        method = SERVICE.methods_by_name[name]
        kinds: dict[tuple[bool, bool], Callable[..., Any]] = {
            (False, False): self.channel.unary_unary,
            (False, True): self.channel.unary_stream,
            (True, True): self.channel.stream_stream,
        }
        return kinds[method.client_streaming, method.server_streaming](
            f"/{SERVICE.full_name}/{name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )

    async def add_pod(self, pod: dict[str, Any]) -> None:
        await self._rpc("AddPod")(pb.AddPodRequest(pod=json.dumps(pod).encode()))

    async def set_pod_status(self, uid: str, status: dict[str, Any]) -> None:
        await self._rpc("SetPodStatus")(pb.SetPodStatusRequest(pod_uid=uid, status=json.dumps(status).encode()))

    async def update_pod_status(self, pod: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
        request = pb.UpdatePodStatusRequest(pod=json.dumps(pod).encode(), status=json.dumps(status).encode())
        response = await self._rpc("UpdatePodStatus")(request)
        filled: dict[str, Any] = json.loads(response.status)
        return filled

    async def sync(self, pod: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
        """Makes the calls of a kubelet for a running pod."""
        filled = await self.update_pod_status(pod, status)
        await self.set_pod_status(pod["metadata"]["uid"], filled)
        await self.add_pod(pod)
        return filled

    async def remove_pod(self, uid: str) -> None:
        await self._rpc("RemovePod")(pb.RemovePodRequest(pod_uid=uid))

    async def remove_pod_status(self, uid: str) -> None:
        await self._rpc("RemovePodStatus")(pb.RemovePodStatusRequest(pod_uid=uid))

    async def cleanup_pods(self, *desired: str) -> None:
        await self._rpc("CleanupPods")(pb.CleanupPodsRequest(desired_pod_uids=desired))

    async def stop_liveness_and_startup(self, uid: str) -> None:
        await self._rpc("StopLivenessAndStartup")(pb.StopLivenessAndStartupRequest(pod_uid=uid))

    async def results(self) -> dict[tuple[str, str], str]:
        """Results by type and container ID."""
        return named((await self._rpc("ListResults")(pb.ListResultsRequest())).results)

    def watch_results(self) -> Any:
        return self._rpc("WatchResults")(pb.WatchResultsRequest())

    def watch_events(self) -> Any:
        return self._rpc("WatchEvents")(pb.WatchEventsRequest())

    def carry_out_execs(self, answers: AsyncIterator[pb.ExecAnswer] | None = None) -> Any:
        return self._rpc("CarryOutExecs")(answers)


class ExecResponder:
    """Answers each exec attempt with the exit code ``code``; ``asked`` has every attempt."""

    def __init__(self, caller: Caller, code: int) -> None:
        self.code = code
        self.asked: list[pb.ExecAttempt] = []
        self._answers: asyncio.Queue[pb.ExecAnswer] = asyncio.Queue()
        self._stream = caller.carry_out_execs(self._sent())
        self._task = asyncio.ensure_future(self._work())

    async def _sent(self) -> AsyncIterator[pb.ExecAnswer]:
        while True:
            yield await self._answers.get()

    async def _work(self) -> None:
        async for attempt in self._stream:
            self.asked.append(attempt)
            self._answers.put_nowait(pb.ExecAnswer(run=attempt.run, exit=pb.Exit(code=self.code, output=b"said")))

    async def gone(self) -> None:
        self._stream.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


def named(results: Any) -> dict[tuple[str, str], str]:
    types, words = pb.ProbeType.Name, pb.Result.Name
    return {(types(row.probe_type).lower(), row.container_id): words(row.result) for row in results}


def make_pod(uid: str = "u", **probes: Any) -> dict[str, Any]:
    metadata = {"name": f"pod-{uid}", "namespace": "default", "uid": uid}
    return {"metadata": metadata, "spec": {"containers": [{"name": "app", "image": "i", **probes}]}}


def running(container_id: str = "test://1", **more: Any) -> dict[str, Any]:
    state = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    row = {"name": "app", "containerID": container_id, "image": "i", "state": state, **more}
    return {"phase": "Running", "podIP": "127.0.0.1", "containerStatuses": [row], "qosClass": "BestEffort"}


def exec_probe(**more: Any) -> dict[str, Any]:
    times = {"timeoutSeconds": 1, "periodSeconds": 1, "successThreshold": 1, "failureThreshold": 1}
    return {"exec": {"command": ["probe"]}, **times, **more}


async def until_result(stream: Any, wanted: tuple[str, str, str]) -> None:
    async for message in stream:
        if wanted in [(*key, result) for key, result in named(message.results).items()]:
            return
