"""A CRI runtime in memory behind a gRPC socket: the test decides how its calls end and when its containers exit."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from probelet.runtime.cri import errors
from probelet.runtime.cri import grpc_channel as wire
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2


class ScriptedRuntime:
    """Every sandbox has the address 127.0.0.1; a container runs until ``stop_container`` or ``exit``.

    ``refuse[rpc]`` is the error of that call; ``held[rpc]`` is an event that the call waits for; ``calls`` has every
    call in order. ``wall_ns`` is the runtime's wall clock.
    """

    def __init__(self, *, with_events: bool = True) -> None:
        self.sandboxes: dict[str, api_pb2.PodSandboxStatus] = {}
        self.containers: dict[str, api_pb2.ContainerStatus] = {}
        self.sandbox_of: dict[str, str] = {}
        self.calls: list[tuple[str, Any]] = []
        self.refuse: dict[str, errors.CriError] = {}
        self.held: dict[str, asyncio.Event] = {}
        self.arrived: dict[str, asyncio.Event] = {}
        # The containers that the runtime lists, but whose status it refuses.
        self.mute: set[str] = set()
        self.images: set[str] = {"i:latest"}
        # The fields of the only image that tell its user.
        self.image_user: dict[str, Any] = {}
        self.features = api_pb2.RuntimeFeatures()
        # Called for each log that is to be opened again.
        self.on_reopen: Callable[[], None] = lambda: None
        # Called after each answer about an image.
        self.after_image_status: Callable[[], None] = lambda: None
        self.exec_answers: dict[tuple[str, ...], api_pb2.ExecSyncResponse] = {}
        # What a verbose status says of every sandbox.
        self.sandbox_info: dict[str, str] = {}
        # The commands that wait for an event before they end.
        self.held_commands: dict[tuple[str, ...], asyncio.Event] = {}
        self.with_events = with_events
        self.wall_ns: Callable[[], int] = time.time_ns
        self._readers: list[asyncio.Queue[api_pb2.ContainerEventResponse | None]] = []
        self._ids = itertools.count()
        self._server: wire.Server | None = None

    async def serve(self, directory: Path) -> RuntimeClient:
        socket = directory / "cri.sock"
        self._server = wire.Server(self)
        await self._server.start(str(socket))
        return RuntimeClient(f"unix://{socket}")

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(0)
        self._readers.clear()

    @property
    def is_followed(self) -> bool:
        """Whether an event stream is open."""
        return bool(self._readers)

    def called(self, rpc: str) -> list[Any]:
        return [request for name, request in self.calls if name == rpc]

    async def _enter(self, rpc: str, request: Any) -> None:
        self.calls.append((rpc, request))
        self.arrived.setdefault(rpc, asyncio.Event()).set()
        if rpc in self.held:
            await self.held[rpc].wait()
        if rpc in self.refuse:
            raise self.refuse[rpc]

    def exit(self, container_id: str, code: int, *, say: bool = True) -> None:
        status = self.containers[container_id]
        status.state, status.exit_code = api_pb2.CONTAINER_EXITED, code
        status.finished_at = self.wall_ns()
        status.reason = "Error" if code else "Completed"
        if say:
            self.publish(self.sandbox_of[container_id], container_id, api_pb2.CONTAINER_STOPPED_EVENT)

    def publish(self, sandbox_id: str, id: str, type: api_pb2.ContainerEventType) -> None:
        event = api_pb2.ContainerEventResponse(
            container_id=id,
            container_event_type=type,
            pod_sandbox_status=self.sandboxes.get(sandbox_id),
            containers_statuses=[c for i, c in self.containers.items() if self.sandbox_of[i] == sandbox_id],
        )
        for reader in self._readers:
            reader.put_nowait(event)

    def drop_readers(self) -> None:
        """Ends every event stream with an error, as a runtime does when its reader is too slow."""
        for reader in self._readers:
            reader.put_nowait(None)
        self._readers.clear()

    # RPCs.

    async def version(self, request: api_pb2.VersionRequest) -> api_pb2.VersionResponse:
        return api_pb2.VersionResponse(
            version="0.9", runtime_name="scripted", runtime_version="1", runtime_api_version="v1"
        )

    async def reopen_container_log(
        self, request: api_pb2.ReopenContainerLogRequest
    ) -> api_pb2.ReopenContainerLogResponse:
        await self._enter("reopen_container_log", request)
        self.on_reopen()
        return api_pb2.ReopenContainerLogResponse()

    async def run_pod_sandbox(self, request: api_pb2.RunPodSandboxRequest) -> api_pb2.RunPodSandboxResponse:
        await self._enter("run_pod_sandbox", request)
        id = f"sandbox{next(self._ids)}"
        # A pod on the node's network has no address of its own, as in containerd.
        on_host = request.config.linux.security_context.namespace_options.network == api_pb2.NODE
        self.sandboxes[id] = api_pb2.PodSandboxStatus(
            id=id,
            metadata=request.config.metadata,
            labels=request.config.labels,
            state=api_pb2.SANDBOX_READY,
            created_at=self.wall_ns(),
            network=api_pb2.PodSandboxNetworkStatus(ip="" if on_host else "127.0.0.1"),
        )
        return api_pb2.RunPodSandboxResponse(pod_sandbox_id=id)

    async def stop_pod_sandbox(self, request: api_pb2.StopPodSandboxRequest) -> api_pb2.StopPodSandboxResponse:
        await self._enter("stop_pod_sandbox", request)
        if request.pod_sandbox_id in self.sandboxes:
            self.sandboxes[request.pod_sandbox_id].state = api_pb2.SANDBOX_NOTREADY
        return api_pb2.StopPodSandboxResponse()

    async def remove_pod_sandbox(self, request: api_pb2.RemovePodSandboxRequest) -> api_pb2.RemovePodSandboxResponse:
        await self._enter("remove_pod_sandbox", request)
        self.sandboxes.pop(request.pod_sandbox_id, None)
        return api_pb2.RemovePodSandboxResponse()

    async def pod_sandbox_status(self, request: api_pb2.PodSandboxStatusRequest) -> api_pb2.PodSandboxStatusResponse:
        await self._enter("pod_sandbox_status", request)
        if request.pod_sandbox_id not in self.sandboxes:
            raise errors.NotFound("no such sandbox")
        info = self.sandbox_info if request.verbose else {}
        return api_pb2.PodSandboxStatusResponse(status=self.sandboxes[request.pod_sandbox_id], info=info)

    async def list_pod_sandbox(self, request: api_pb2.ListPodSandboxRequest) -> api_pb2.ListPodSandboxResponse:
        await self._enter("list_pod_sandbox", request)
        wanted = request.filter.label_selector
        rows = [
            api_pb2.PodSandbox(id=s.id, metadata=s.metadata, state=s.state, created_at=s.created_at, labels=s.labels)
            for s in self.sandboxes.values()
            if all(s.labels.get(key) == value for key, value in wanted.items())
        ]
        return api_pb2.ListPodSandboxResponse(items=rows)

    async def create_container(self, request: api_pb2.CreateContainerRequest) -> api_pb2.CreateContainerResponse:
        await self._enter("create_container", request)
        id = f"container{next(self._ids)}"
        config = request.config
        self.sandbox_of[id] = request.pod_sandbox_id
        self.containers[id] = api_pb2.ContainerStatus(
            id=id,
            metadata=config.metadata,
            state=api_pb2.CONTAINER_CREATED,
            created_at=self.wall_ns(),
            labels=config.labels,
            annotations=config.annotations,
        )
        return api_pb2.CreateContainerResponse(container_id=id)

    async def start_container(self, request: api_pb2.StartContainerRequest) -> api_pb2.StartContainerResponse:
        await self._enter("start_container", request)
        status = self.containers[request.container_id]
        status.state, status.started_at = api_pb2.CONTAINER_RUNNING, self.wall_ns()
        self.publish(self.sandbox_of[request.container_id], request.container_id, api_pb2.CONTAINER_STARTED_EVENT)
        return api_pb2.StartContainerResponse()

    async def stop_container(self, request: api_pb2.StopContainerRequest) -> api_pb2.StopContainerResponse:
        await self._enter("stop_container", request)
        if request.container_id not in self.containers:
            raise errors.NotFound("no such container")
        if self.containers[request.container_id].state == api_pb2.CONTAINER_RUNNING:
            self.exit(request.container_id, 137)
        return api_pb2.StopContainerResponse()

    async def remove_container(self, request: api_pb2.RemoveContainerRequest) -> api_pb2.RemoveContainerResponse:
        await self._enter("remove_container", request)
        if request.container_id in self.containers:
            self.publish(self.sandbox_of[request.container_id], request.container_id, api_pb2.CONTAINER_DELETED_EVENT)
            del self.containers[request.container_id]
        return api_pb2.RemoveContainerResponse()

    async def list_containers(self, request: api_pb2.ListContainersRequest) -> api_pb2.ListContainersResponse:
        await self._enter("list_containers", request)
        wanted = request.filter.pod_sandbox_id
        rows = [
            api_pb2.Container(
                id=c.id,
                pod_sandbox_id=self.sandbox_of[c.id],
                metadata=c.metadata,
                state=c.state,
                created_at=c.created_at,
                labels=c.labels,
                annotations=c.annotations,
            )
            for c in self.containers.values()
            if wanted in ("", self.sandbox_of[c.id])
        ]
        return api_pb2.ListContainersResponse(containers=rows)

    async def container_status(self, request: api_pb2.ContainerStatusRequest) -> api_pb2.ContainerStatusResponse:
        await self._enter("container_status", request)
        if request.container_id in self.mute:
            raise errors.RuntimeRefused("failed to get the state of the task")
        if request.container_id not in self.containers:
            raise errors.NotFound("no such container")
        return api_pb2.ContainerStatusResponse(status=self.containers[request.container_id])

    async def exec_sync(self, request: api_pb2.ExecSyncRequest) -> api_pb2.ExecSyncResponse:
        await self._enter("exec_sync", request)
        command = tuple(request.cmd)
        if command in self.held_commands:
            await self.held_commands[command].wait()
        return self.exec_answers.get(command, api_pb2.ExecSyncResponse())

    async def image_status(self, request: api_pb2.ImageStatusRequest) -> api_pb2.ImageStatusResponse:
        await self._enter("image_status", request)
        self.after_image_status()
        name = request.image.image
        if name.removeprefix("sha256:") not in self.images:
            return api_pb2.ImageStatusResponse()
        found = api_pb2.Image(id=f"sha256:{name.removeprefix('sha256:')}", size=1000, **self.image_user)
        return api_pb2.ImageStatusResponse(image=found)

    async def status(self, request: api_pb2.StatusRequest) -> api_pb2.StatusResponse:
        await self._enter("status", request)
        return api_pb2.StatusResponse(features=self.features)

    async def pull_image(self, request: api_pb2.PullImageRequest) -> api_pb2.PullImageResponse:
        await self._enter("pull_image", request)
        self.images.add(request.image.image)
        return api_pb2.PullImageResponse(image_ref=f"sha256:{request.image.image}")

    async def get_container_events(
        self, request: api_pb2.GetEventsRequest
    ) -> AsyncIterator[api_pb2.ContainerEventResponse]:
        if not self.with_events:
            raise errors.Unimplemented("unknown method GetContainerEvents")
        queue: asyncio.Queue[api_pb2.ContainerEventResponse | None] = asyncio.Queue()
        self._readers.append(queue)

        async def read() -> AsyncIterator[api_pb2.ContainerEventResponse]:
            while True:
                event = await queue.get()
                if event is None:
                    raise errors.ResourceExhausted("the reader is too slow")
                yield event

        return read()
