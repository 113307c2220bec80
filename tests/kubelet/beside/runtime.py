"""The containerd of one side, asked by blocking calls: two sides and their watches ask at once, each in threads."""

import threading
from typing import Any

import grpc  # type: ignore[import-untyped]
from google.protobuf.message import Message
from probelet.runtime.cri.v1 import api_pb2

from tests.system.containerd.machine import Containerd

CALL_SECONDS = 10.0
_ONE_LOOP = threading.Lock()
"""gRPC's event loops disturb each other, and ``Containerd.stop`` uses one."""


class Runtime(Containerd):
    """A containerd with the calls that the comparison needs. They raise RuntimeError."""

    def containers(self) -> list[api_pb2.Container]:
        answer = self._call("ListContainers", api_pb2.ListContainersRequest(), api_pb2.ListContainersResponse)
        return list(answer.containers)

    def sandboxes(self) -> list[api_pb2.PodSandbox]:
        answer = self._call("ListPodSandbox", api_pb2.ListPodSandboxRequest(), api_pb2.ListPodSandboxResponse)
        return list(answer.items)

    def container_status(self, name: str, *, verbose: bool) -> Message:
        request = api_pb2.ContainerStatusRequest(container_id=name, verbose=verbose)
        found: Message = self._call("ContainerStatus", request, api_pb2.ContainerStatusResponse)
        return found

    def sandbox_status(self, name: str) -> Message:
        request = api_pb2.PodSandboxStatusRequest(pod_sandbox_id=name, verbose=True)
        found: Message = self._call("PodSandboxStatus", request, api_pb2.PodSandboxStatusResponse)
        return found

    def _call(self, rpc: str, request: Message, answer: Any) -> Any:
        with grpc.insecure_channel(self.endpoint) as channel:
            call = channel.unary_unary(
                f"/runtime.v1.RuntimeService/{rpc}",
                request_serializer=lambda message: message.SerializeToString(),
                response_deserializer=answer.FromString,
            )
            try:
                return call(request, timeout=CALL_SECONDS)
            except grpc.RpcError as error:
                raise RuntimeError(f"{rpc}: {error}") from None

    def stop(self) -> None:
        with _ONE_LOOP:
            super().stop()
