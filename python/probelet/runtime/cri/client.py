"""The CRI client: talks to any CRI v1 runtime on a unix socket, with the kubelet's deadlines.

The deadlines are those of kubelet cri-client/pkg/remote_runtime.go, 1.36: two minutes, plus a call's own timeout or
grace period, twice that for RunPodSandbox, and none for the event stream.
"""

import stat
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, cast

from google.protobuf.message import Message

from probelet.runtime.cri import errors, grpc_channel
from probelet.runtime.cri.v1 import api_pb2

REQUEST_TIMEOUT_SECONDS = 120.0
"""The kubelet's runtimeRequestTimeout default."""

VERIFY_TIMEOUT_SECONDS = 5.0
"""Limit for Version in ``verify``: a runtime that takes longer is not ready to run pods."""

Observer = Callable[[str, float, errors.CriError | None], None]
"""Gets each finished call's operation (``exec_sync``), its seconds, and the error if it failed."""


def socket_of(endpoint: str) -> str:
    """The socket path in ``unix:///run/containerd/containerd.sock``. Raises ValueError for any other endpoint."""
    scheme, separator, path = endpoint.partition("://")
    if scheme != "unix" or not separator or not path.startswith("/"):
        raise ValueError(f"runtime endpoint {endpoint!r}: must be unix:// and an absolute path to a socket")
    return path


class ContainerEvents:
    """The open event stream. Iterate over it; it ends with a ``CriError`` when the runtime goes away."""

    def __init__(self, stream: grpc_channel.Stream) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[api_pb2.ContainerEventResponse]:
        return self

    async def __anext__(self) -> api_pb2.ContainerEventResponse:
        return cast(api_pb2.ContainerEventResponse, await self._stream.__anext__())

    async def opened(self) -> None:
        """Waits until the stream misses no event from now on.

        The embedded runtime confirms this at once, containerd only with its first event: bound the wait, and list again
        from time to time. Raises Unimplemented for a runtime without events.
        """
        await self._stream.opened()

    def cancel(self) -> None:
        """Closes the stream; a waiting iteration ends with ``asyncio.CancelledError``."""
        self._stream.cancel()


class RuntimeClient:
    """The client of one runtime. Create it inside the event loop that uses it; close it with ``aclose``.

    Every method raises ``errors.CriError`` (its subclass for the status code) and no error of the gRPC library.
    ``observer`` gets every unary call. IDs are the runtime's own, without ``type://``.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        request_timeout: float = REQUEST_TIMEOUT_SECONDS,
        observer: Observer | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.request_timeout = request_timeout
        """Limit of a call in seconds; calls that wait by design get more."""
        self._observer = observer
        self._socket = socket_of(endpoint)
        self._channel = grpc_channel.Channel(self._socket)

    async def __aenter__(self) -> "RuntimeClient":
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancels the calls in flight and closes the connection."""
        await self._channel.close()

    async def _call(self, rpc: str, request: Message, limit: float | None) -> Any:
        if self._observer is None:
            return await self._channel.call(rpc, request, limit)
        begun = time.monotonic()
        failure: errors.CriError | None = None
        try:
            return await self._channel.call(rpc, request, limit)
        except errors.CriError as error:
            failure = error
            raise
        finally:
            self._observer(grpc_channel.snake_case(rpc), time.monotonic() - begun, failure)

    def _require_socket(self) -> None:
        try:
            mode = Path(self._socket).stat().st_mode
        except OSError as error:
            raise errors.NotARuntime(f"runtime endpoint {self.endpoint}: {error.strerror}") from None
        if not stat.S_ISSOCK(mode):
            raise errors.NotARuntime(f"runtime endpoint {self.endpoint}: is not a socket")

    async def verify(self) -> api_pb2.VersionResponse:
        """Asks for the version; raises ``errors.NotARuntime``, one clear line, unless a CRI v1 runtime answers."""
        self._require_socket()
        try:
            request = api_pb2.VersionRequest(version="0.1.0")
            return cast(api_pb2.VersionResponse, await self._call("Version", request, VERIFY_TIMEOUT_SECONDS))
        except errors.Unimplemented:
            reason = "speaks gRPC but not CRI v1 (runtime.v1.RuntimeService)"
        except errors.DeadlineExceeded:
            reason = f"no answer within {VERIFY_TIMEOUT_SECONDS:g} s"
        except errors.CriError as error:
            reason = f"no CRI v1 runtime answers: {error.detail}"
        raise errors.NotARuntime(f"runtime endpoint {self.endpoint}: {reason}")

    # The runtime itself.

    async def version(self) -> api_pb2.VersionResponse:
        """The runtime's name and version."""
        request = api_pb2.VersionRequest(version="0.1.0")
        return cast(api_pb2.VersionResponse, await self._call("Version", request, self.request_timeout))

    async def status(self, *, verbose: bool = False) -> api_pb2.StatusResponse:
        """The runtime's conditions (RuntimeReady, NetworkReady)."""
        request = api_pb2.StatusRequest(verbose=verbose)
        return cast(api_pb2.StatusResponse, await self._call("Status", request, self.request_timeout))

    async def update_runtime_config(self, pod_cidr: str) -> None:
        """Passes the node's pod CIDR to the runtime."""
        config = api_pb2.RuntimeConfig(network_config=api_pb2.NetworkConfig(pod_cidr=pod_cidr))
        request = api_pb2.UpdateRuntimeConfigRequest(runtime_config=config)
        await self._call("UpdateRuntimeConfig", request, self.request_timeout)

    async def runtime_config(self) -> api_pb2.RuntimeConfigResponse:
        """The runtime's cgroup driver; Unimplemented in containerd 1.x."""
        request = api_pb2.RuntimeConfigRequest()
        return cast(api_pb2.RuntimeConfigResponse, await self._call("RuntimeConfig", request, self.request_timeout))

    # Pod sandboxes.

    async def run_pod_sandbox(self, config: api_pb2.PodSandboxConfig, runtime_handler: str = "") -> str:
        """Creates and starts a sandbox; returns its ID. The limit is twice the request timeout, as in the kubelet."""
        request = api_pb2.RunPodSandboxRequest(config=config, runtime_handler=runtime_handler)
        response = await self._call("RunPodSandbox", request, self.request_timeout * 2)
        return cast(api_pb2.RunPodSandboxResponse, response).pod_sandbox_id

    async def stop_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """Kills the sandbox's remaining processes and frees its network. Idempotent."""
        request = api_pb2.StopPodSandboxRequest(pod_sandbox_id=pod_sandbox_id)
        await self._call("StopPodSandbox", request, self.request_timeout)

    async def remove_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """Removes the sandbox and its containers. Idempotent."""
        request = api_pb2.RemovePodSandboxRequest(pod_sandbox_id=pod_sandbox_id)
        await self._call("RemovePodSandbox", request, self.request_timeout)

    async def pod_sandbox_status(
        self, pod_sandbox_id: str, *, verbose: bool = False
    ) -> api_pb2.PodSandboxStatusResponse:
        """The sandbox's state and pod IP (``status.network.ip``). Raises NotFound."""
        request = api_pb2.PodSandboxStatusRequest(pod_sandbox_id=pod_sandbox_id, verbose=verbose)
        response = await self._call("PodSandboxStatus", request, self.request_timeout)
        return cast(api_pb2.PodSandboxStatusResponse, response)

    async def list_pod_sandbox(self, filter: api_pb2.PodSandboxFilter | None = None) -> list[api_pb2.PodSandbox]:
        """Every sandbox that matches ``filter``."""
        request = api_pb2.ListPodSandboxRequest(filter=filter)
        response = await self._call("ListPodSandbox", request, self.request_timeout)
        return list(cast(api_pb2.ListPodSandboxResponse, response).items)

    # Containers.

    async def create_container(
        self, pod_sandbox_id: str, config: api_pb2.ContainerConfig, sandbox_config: api_pb2.PodSandboxConfig
    ) -> str:
        """Creates a container; returns its ID. ``sandbox_config`` is the one that the sandbox was started with."""
        request = api_pb2.CreateContainerRequest(
            pod_sandbox_id=pod_sandbox_id, config=config, sandbox_config=sandbox_config
        )
        response = await self._call("CreateContainer", request, self.request_timeout)
        return cast(api_pb2.CreateContainerResponse, response).container_id

    async def start_container(self, container_id: str) -> None:
        """Starts a created container. If its command cannot start, raises; the container is then Exited, StartError."""
        request = api_pb2.StartContainerRequest(container_id=container_id)
        await self._call("StartContainer", request, self.request_timeout)

    async def stop_container(self, container_id: str, timeout_seconds: int) -> None:
        """Sends the stop signal, waits ``timeout_seconds``, sends SIGKILL; returns after the exit. 0 kills at once.

        A second stop succeeds. An unknown container is NotFound in containerd 1.x; other runtimes succeed.
        """
        request = api_pb2.StopContainerRequest(container_id=container_id, timeout=timeout_seconds)
        await self._call("StopContainer", request, self.request_timeout + timeout_seconds)

    async def remove_container(self, container_id: str) -> None:
        """Removes a container; kills it first if it runs. Idempotent."""
        request = api_pb2.RemoveContainerRequest(container_id=container_id)
        await self._call("RemoveContainer", request, self.request_timeout)

    async def list_containers(self, filter: api_pb2.ContainerFilter | None = None) -> list[api_pb2.Container]:
        """Every container that matches ``filter``, in any state."""
        request = api_pb2.ListContainersRequest(filter=filter)
        response = await self._call("ListContainers", request, self.request_timeout)
        return list(cast(api_pb2.ListContainersResponse, response).containers)

    async def container_status(self, container_id: str, *, verbose: bool = False) -> api_pb2.ContainerStatusResponse:
        """The container's state, times (Unix nanoseconds), exit code, reason. Raises NotFound."""
        request = api_pb2.ContainerStatusRequest(container_id=container_id, verbose=verbose)
        response = await self._call("ContainerStatus", request, self.request_timeout)
        return cast(api_pb2.ContainerStatusResponse, response)

    async def reopen_container_log(self, container_id: str) -> None:
        """Has the runtime open a running container's log again, after a rotation has renamed it."""
        request = api_pb2.ReopenContainerLogRequest(container_id=container_id)
        await self._call("ReopenContainerLog", request, self.request_timeout)

    async def exec_sync(
        self, container_id: str, cmd: Sequence[str], timeout_seconds: int, *, deadline: float | None = None
    ) -> api_pb2.ExecSyncResponse:
        """Runs a command in the container and waits for its end.

        The runtime gets ``timeout_seconds``; 0 means no timeout, and then the call has no deadline either.
        ``deadline``, in seconds, replaces the client's own limit (request timeout + ``timeout_seconds``). Raises
        DeadlineExceeded if the command takes too long.
        """
        request = api_pb2.ExecSyncRequest(container_id=container_id, cmd=cmd, timeout=timeout_seconds)
        limit = deadline
        if deadline is None and timeout_seconds:
            limit = self.request_timeout + timeout_seconds
        return cast(api_pb2.ExecSyncResponse, await self._call("ExecSync", request, limit))

    # Images (ImageService, on the same socket as in the kubelet's default).

    async def list_images(self) -> list[api_pb2.Image]:
        """Every image that the runtime has."""
        request = api_pb2.ListImagesRequest()
        response = await self._call("ListImages", request, self.request_timeout)
        return list(cast(api_pb2.ListImagesResponse, response).images)

    async def image_status(self, image: str) -> api_pb2.Image | None:
        """The runtime's image of this name, or None."""
        request = api_pb2.ImageStatusRequest(image=api_pb2.ImageSpec(image=image))
        response = cast(api_pb2.ImageStatusResponse, await self._call("ImageStatus", request, self.request_timeout))
        return response.image if response.HasField("image") and response.image.id else None

    async def pull_image(self, image: str, sandbox_config: api_pb2.PodSandboxConfig) -> str:
        """Pulls an image; returns the reference for containers. No limit: the runtime watches the pull's progress."""
        request = api_pb2.PullImageRequest(image=api_pb2.ImageSpec(image=image), sandbox_config=sandbox_config)
        return cast(api_pb2.PullImageResponse, await self._call("PullImage", request, None)).image_ref

    # Events.

    def container_events(self) -> ContainerEvents:
        """Opens the event stream. Open it before listing, and list again after any error on it.

        A runtime without events (containerd 1.x) ends it with Unimplemented. The embedded runtime ends it with
        ResourceExhausted for a reader that falls behind.
        """
        return ContainerEvents(self._channel.stream("GetContainerEvents", api_pb2.GetEventsRequest()))
