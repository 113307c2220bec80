"""The RPCs of the embedded runtime: each method is one of runtime.v1.RuntimeService, served by ``cri.grpc_channel``.

If the CRI leaves a choice, this does what containerd does: stopping or removing something unknown succeeds, removing
a running container kills it and leaves its log to the client, and sandboxes have events of their own.
"""

import asyncio
import time
from collections.abc import Mapping
from importlib import metadata

from msgspec.structs import replace

from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.child.user import User, user_of
from probelet.runtime.embedded.events import EventReader, Events
from probelet.runtime.embedded.host import Host
from probelet.runtime.embedded.listening.looks import Looks
from probelet.runtime.embedded.listening.report import FOREIGN_LISTENERS, encode
from probelet.runtime.embedded.pod.address import NODE_ADDRESS
from probelet.runtime.embedded.pod.container import Container
from probelet.runtime.embedded.pod.execution import ExecSync
from probelet.runtime.embedded.pod.network import ON_HOST, Networks
from probelet.runtime.embedded.pod.sandbox import Sandbox

CONTAINERS_MAX = 10_000
"""Limit of sandboxes plus containers, exited ones included: it stops a client that never removes any."""


def _version() -> str:
    try:
        return metadata.version("probelet")
    except metadata.PackageNotFoundError:
        return "not installed"


def _matches(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in selector.items())


class ProcessRuntime:
    """The sandboxes and containers of one root."""

    def __init__(self, host: Host, networks: Networks) -> None:
        self._host = host
        self._networks = networks
        self._exec_sync = ExecSync(host)
        self._events = Events()
        self._looks = Looks()
        # Sandboxes that wait for their network.
        self._starting: list[Sandbox] = []
        self._sandboxes: dict[str, Sandbox] = {}
        self._containers: dict[str, Container] = {}

    def _sandbox(self, pod_sandbox_id: str) -> Sandbox:
        try:
            return self._sandboxes[pod_sandbox_id]
        except KeyError:
            raise errors.NotFound(f'an error occurred when try to find sandbox "{pod_sandbox_id}": not found') from None

    def _container(self, container_id: str) -> Container:
        try:
            return self._containers[container_id]
        except KeyError:
            raise errors.NotFound(f'an error occurred when try to find container "{container_id}": not found') from None

    def _require_room(self) -> None:
        if len(self._sandboxes) + len(self._containers) >= CONTAINERS_MAX:
            raise errors.ResourceExhausted(f"{CONTAINERS_MAX} sandboxes and containers exist: remove some")

    # The runtime itself.

    async def version(self, request: api_pb2.VersionRequest) -> api_pb2.VersionResponse:
        return api_pb2.VersionResponse(
            version="0.1.0",
            runtime_name="probelet-process",
            runtime_version=_version(),
            runtime_api_version="v1",
        )

    async def status(self, request: api_pb2.StatusRequest) -> api_pb2.StatusResponse:
        conditions = [api_pb2.RuntimeCondition(type=kind, status=True) for kind in ("RuntimeReady", "NetworkReady")]
        answer = api_pb2.StatusResponse(status=api_pb2.RuntimeStatus(conditions=conditions))
        if request.verbose:
            answer.info["root"] = self._host.root
            answer.info[FOREIGN_LISTENERS] = encode(await self._looks.look(self._sandboxes.values()))
        return answer

    # Pod sandboxes.

    async def run_pod_sandbox(self, request: api_pb2.RunPodSandboxRequest) -> api_pb2.RunPodSandboxResponse:
        if request.runtime_handler:
            raise errors.InvalidArgument(f'no runtime for "{request.runtime_handler}" is configured')
        if not request.config.metadata.name:
            raise errors.InvalidArgument("sandbox config must include metadata with a name")
        self._host.require_open()
        self._require_room()
        sandbox = Sandbox(request.config)
        for other in (*self._sandboxes.values(), *self._starting):
            if other.name == sandbox.name:
                raise errors.AlreadyExists(f"sandbox {'/'.join(map(str, sandbox.name))} exists as {other.id}")
        # A pod on the node's network has no address of its own, as in containerd.
        if request.config.linux.security_context.namespace_options.network != api_pb2.NODE:
            self._starting.append(sandbox)
            try:
                sandbox.network = await self._networks.attach("/".join(sandbox.name[:2]))
            finally:
                self._starting.remove(sandbox)
        self._sandboxes[sandbox.id] = sandbox
        self._publish_of(sandbox, sandbox.id, api_pb2.CONTAINER_CREATED_EVENT)
        self._publish_of(sandbox, sandbox.id, api_pb2.CONTAINER_STARTED_EVENT)
        return api_pb2.RunPodSandboxResponse(pod_sandbox_id=sandbox.id)

    async def stop_pod_sandbox(self, request: api_pb2.StopPodSandboxRequest) -> api_pb2.StopPodSandboxResponse:
        sandbox = self._sandboxes.get(request.pod_sandbox_id)
        if sandbox is not None:
            await self._stop_sandbox(sandbox)
        return api_pb2.StopPodSandboxResponse()

    async def _stop_sandbox(self, sandbox: Sandbox) -> None:
        was_ready = sandbox.state == api_pb2.SANDBOX_READY
        # Not ready first: no container may start during the kill of the others.
        sandbox.state = api_pb2.SANDBOX_NOTREADY
        await asyncio.gather(*(container.stop(0) for container in sandbox.containers.values()))
        network, sandbox.network = sandbox.network, ON_HOST
        await self._networks.detach(network)
        if was_ready:
            self._publish_of(sandbox, sandbox.id, api_pb2.CONTAINER_STOPPED_EVENT)

    async def remove_pod_sandbox(self, request: api_pb2.RemovePodSandboxRequest) -> api_pb2.RemovePodSandboxResponse:
        sandbox = self._sandboxes.get(request.pod_sandbox_id)
        if sandbox is not None:
            await self._stop_sandbox(sandbox)
            for container in list(sandbox.containers.values()):
                await self._remove(container)
            if self._sandboxes.pop(sandbox.id, None) is not None:
                self._publish_of(sandbox, sandbox.id, api_pb2.CONTAINER_DELETED_EVENT)
        return api_pb2.RemovePodSandboxResponse()

    async def pod_sandbox_status(self, request: api_pb2.PodSandboxStatusRequest) -> api_pb2.PodSandboxStatusResponse:
        sandbox = self._sandbox(request.pod_sandbox_id)
        answer = api_pb2.PodSandboxStatusResponse(
            status=sandbox.status(),
            containers_statuses=[container.status() for container in sandbox.containers.values()],
            timestamp=time.time_ns(),
        )
        if request.verbose:
            answer.info["info"] = sandbox.info()
        return answer

    async def list_pod_sandbox(self, request: api_pb2.ListPodSandboxRequest) -> api_pb2.ListPodSandboxResponse:
        wanted = request.filter
        rows = [
            sandbox.row()
            for sandbox in self._sandboxes.values()
            if wanted.id in ("", sandbox.id)
            and (not wanted.HasField("state") or wanted.state.state == sandbox.state)
            and _matches(wanted.label_selector, sandbox.config.labels)
        ]
        return api_pb2.ListPodSandboxResponse(items=rows)

    # Containers.

    async def create_container(self, request: api_pb2.CreateContainerRequest) -> api_pb2.CreateContainerResponse:
        sandbox, config = self._sandbox(request.pod_sandbox_id), request.config
        if sandbox.state != api_pb2.SANDBOX_READY:
            raise errors.FailedPrecondition(f'sandbox "{sandbox.id}" is not running')
        if not config.metadata.name:
            raise errors.InvalidArgument("container config must include metadata with a name")
        if not config.command:
            raise errors.InvalidArgument(
                f'container "{config.metadata.name}": no command: the embedded runtime has no images whose entry '
                "point could run, so command must be set"
            )
        self._require_room()
        for other in sandbox.containers.values():
            if other.config.metadata == config.metadata:
                name = f"{config.metadata.name} (attempt {config.metadata.attempt})"
                raise errors.AlreadyExists(f"container {name} exists as {other.id}")
        # A sandbox that is ready and has no address is on the host's network.
        network = sandbox.network if sandbox.network.ip else replace(sandbox.network, ip=NODE_ADDRESS)
        log_path = sandbox.log_path(config)
        container = Container(
            self._host, sandbox.id, network, config, log_path, self._publish_container, self._user(config)
        )
        self._containers[container.id] = sandbox.containers[container.id] = container
        self._publish_container(container, api_pb2.CONTAINER_CREATED_EVENT)
        return api_pb2.CreateContainerResponse(container_id=container.id)

    def _user(self, config: api_pb2.ContainerConfig) -> User | None:
        context = config.linux.security_context
        return user_of(context.run_as_user.value) if self._host.has_users and context.HasField("run_as_user") else None

    async def start_container(self, request: api_pb2.StartContainerRequest) -> api_pb2.StartContainerResponse:
        container = self._container(request.container_id)
        if self._sandbox(container.pod_sandbox_id).state != api_pb2.SANDBOX_READY:
            raise errors.FailedPrecondition(f'sandbox "{container.pod_sandbox_id}" is not running')
        container.start()
        return api_pb2.StartContainerResponse()

    async def stop_container(self, request: api_pb2.StopContainerRequest) -> api_pb2.StopContainerResponse:
        container = self._containers.get(request.container_id)
        if container is not None:
            await container.stop(request.timeout)
        return api_pb2.StopContainerResponse()

    async def remove_container(self, request: api_pb2.RemoveContainerRequest) -> api_pb2.RemoveContainerResponse:
        container = self._containers.get(request.container_id)
        if container is not None:
            await self._remove(container)
        return api_pb2.RemoveContainerResponse()

    async def _remove(self, container: Container) -> None:
        await container.stop(0)
        # Another call may have removed it during our wait.
        if self._containers.pop(container.id, None) is None:
            return
        self._publish_container(container, api_pb2.CONTAINER_DELETED_EVENT)
        del self._sandboxes[container.pod_sandbox_id].containers[container.id]

    async def list_containers(self, request: api_pb2.ListContainersRequest) -> api_pb2.ListContainersResponse:
        wanted = request.filter
        rows = [
            container.row()
            for container in self._containers.values()
            if wanted.id in ("", container.id)
            and wanted.pod_sandbox_id in ("", container.pod_sandbox_id)
            and (not wanted.HasField("state") or wanted.state.state == container.state)
            and _matches(wanted.label_selector, container.config.labels)
        ]
        return api_pb2.ListContainersResponse(containers=rows)

    async def container_status(self, request: api_pb2.ContainerStatusRequest) -> api_pb2.ContainerStatusResponse:
        return api_pb2.ContainerStatusResponse(status=self._container(request.container_id).status())

    # Exec and events.

    async def exec_sync(self, request: api_pb2.ExecSyncRequest) -> api_pb2.ExecSyncResponse:
        container = self._containers.get(request.container_id)
        if container is None:
            container_id = request.container_id
            raise errors.NotFound(
                f'failed to exec in container: failed to find container "{container_id}" in store: not found'
            )
        if request.timeout < 0:
            raise errors.InvalidArgument(f"exec: timeout {request.timeout}: must not be negative")
        return await self._exec_sync.run(container, request.cmd, request.timeout)

    async def get_container_events(self, request: api_pb2.GetEventsRequest) -> EventReader:
        return self._events.subscribe()

    def _publish_container(self, container: Container, kind: api_pb2.ContainerEventType) -> None:
        self._publish_of(self._sandboxes[container.pod_sandbox_id], container.id, kind)

    def _publish_of(self, sandbox: Sandbox, subject: str, kind: api_pb2.ContainerEventType) -> None:
        if self._events.wanted:
            self._events.publish(
                api_pb2.ContainerEventResponse(
                    container_id=subject,
                    container_event_type=kind,
                    created_at=time.time_ns(),
                    pod_sandbox_status=sandbox.status(),
                    containers_statuses=[container.status() for container in sandbox.containers.values()],
                )
            )
