"""One pod sandbox: an address, a name and its containers. It has no process of its own."""

import secrets
import time
from pathlib import Path, PurePath

import msgspec

from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.pod.container import Container
from probelet.runtime.embedded.pod.log import LogPath
from probelet.runtime.embedded.pod.network import ON_HOST


class Sandbox:
    """A sandbox, ready until its stop; a stop is final."""

    def __init__(self, config: api_pb2.PodSandboxConfig) -> None:
        self.id = secrets.token_hex(32)
        self.config = config
        self.network = ON_HOST
        self.state: api_pb2.PodSandboxState = api_pb2.SANDBOX_READY
        self.containers: dict[str, Container] = {}
        self._created_at = time.time_ns()

    @property
    def name(self) -> tuple[str, str, str, int]:
        """The identity of a sandbox; no two sandboxes may share it."""
        metadata = self.config.metadata
        return metadata.namespace, metadata.name, metadata.uid, metadata.attempt

    def log_path(self, config: api_pb2.ContainerConfig) -> LogPath | None:
        """The path of a container's log; None if the caller wants no log. Raises InvalidArgument."""
        if not self.config.log_directory or not config.log_path:
            return None
        inside = PurePath(config.log_path)
        if inside.is_absolute() or ".." in inside.parts:
            raise errors.InvalidArgument(f"log_path {config.log_path!r}: must stay inside the log directory")
        return LogPath(Path(self.config.log_directory), inside.parts)

    def status(self) -> api_pb2.PodSandboxStatus:
        """The sandbox's full CRI status. A stopped sandbox has no address, as in containerd."""
        options = self.config.linux.security_context.namespace_options
        return api_pb2.PodSandboxStatus(
            id=self.id,
            metadata=self.config.metadata,
            state=self.state,
            created_at=self._created_at,
            network=api_pb2.PodSandboxNetworkStatus(ip=self.network.ip),
            linux=api_pb2.LinuxPodSandboxStatus(namespaces=api_pb2.Namespace(options=options)),
            labels=self.config.labels,
            annotations=self.config.annotations,
        )

    def info(self) -> str:
        """The addition to a verbose status, in containerd's form: the network namespace, unless it is the machine's."""
        namespace = self.network.namespace
        namespaces = [] if namespace is None else [{"type": "network", "path": namespace.path}]
        return msgspec.json.encode({"runtimeSpec": {"linux": {"namespaces": namespaces}}}).decode()

    def row(self) -> api_pb2.PodSandbox:
        """The sandbox's entry in ListPodSandbox."""
        return api_pb2.PodSandbox(
            id=self.id,
            metadata=self.config.metadata,
            state=self.state,
            created_at=self._created_at,
            labels=self.config.labels,
            annotations=self.config.annotations,
        )
