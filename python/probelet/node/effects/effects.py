"""Carries out policy's effects as calls of the runtime, and brings the cache up to date with each."""

from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from probelet.base.files import below
from probelet.base.logs.ended import describe
from probelet.base.logs.layout import log_name
from probelet.base.logs.rotation import files_of
from probelet.host.log_description import described
from probelet.node.effects.cri_config import Instance, container_config, log_directory, sandbox_config
from probelet.node.effects.environment.config_error import ContainerConfigError
from probelet.node.effects.environment.place import Place
from probelet.node.effects.images import Images
from probelet.node.effects.linux.host import this_host
from probelet.node.effects.linux.run_as import ImageUser, check_non_root, image_user
from probelet.node.effects.linux.security import needs_strict_groups
from probelet.node.effects.mounts.hosts_file import hosts_file
from probelet.node.effects.mounts.pod_files import PodFiles
from probelet.node.effects.mounts.pod_name import PodNameError, kernel_name
from probelet.node.options import NodeOptions
from probelet.policy.protocol.effects import (
    CreateContainer,
    Effect,
    InspectImage,
    KillContainer,
    Outcome,
    PullImage,
    RemoveContainer,
    RemoveSandbox,
    RunHook,
    RunSandbox,
    StartContainer,
    StopSandbox,
)
from probelet.policy.rules.probed_ports import probed_ports
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.listening.report import PROBED_PORTS, ports_text
from probelet.runtime.host import RuntimeHost
from probelet.runtime.seen.hooks import Hooks
from probelet.runtime.seen.labels import count_in
from probelet.runtime.seen.node_address import pod_address
from probelet.spec.model.pod import Pod
from probelet.spec.text.container_id import bare_id

NO_STRICT_GROUPS = "SupplementalGroupsPolicy=Strict is not supported in this node"
"""The kubelet's message when it does not admit such a pod (lifecycle/predicate.go, 1.36)."""

CANCELED = Outcome(error="rpc error: code = Canceled desc = context canceled", detail="context canceled")
"""The outcome of the kubelet's own calls when it gives up a sync."""


class SharedNetwork(Protocol):
    """The receiver of the pods that share this machine's network."""

    def doubt(self, pod: Pod, ip: str) -> None: ...
    def forget(self, uid: str) -> None: ...


class Effects:
    """Carries out one effect at a time; before ``perform`` returns, the cache shows the result.

    ``files`` are the files that containers get as mounts, None without mounts; ``shared_network`` is None where each
    pod has a network of its own.
    """

    def __init__(
        self, host: RuntimeHost, options: NodeOptions, files: PodFiles | None, shared_network: SharedNetwork | None
    ) -> None:
        self._host = host
        self._client = host.client
        self._cache = host.cache
        self._inspection = host.inspection
        self._images = Images(host.client, host.timers.now, options.parallel_pulls)
        self._hooks = Hooks(host.client, f"kube-lifecycle/{options.kubelet_version}")
        self._log_root = options.log_root
        self._kept_logs = options.logs.kept
        self._objects = options.objects
        self._machine = this_host(
            seccomp_default=options.seccomp_default,
            cluster_domain=options.cluster_domain,
            disk=options.root or options.log_root,
        )
        self._files = files
        self._shared_network = shared_network

    async def perform(self, pod: Pod, effect: Effect) -> Outcome:
        """Carries out one effect. An error of the runtime is an outcome, not an exception."""
        try:
            outcome = self._checked(pod, await self._call(pod, effect))
        except errors.CriError as error:
            outcome = Outcome(error=str(error), detail=error.detail)
        except (OSError, PodNameError) as error:
            # The directory for logs cannot be made, or the sandbox cannot have its name.
            outcome = Outcome(error=str(error), detail=str(error))
        await self.refresh(pod.metadata.uid, effect, outcome)
        return outcome

    def _checked(self, pod: Pod, outcome: Outcome) -> Outcome:
        """The outcome, unless its ID is another pod's: that pod's containers are not for this one to stop."""
        owner = self._cache.owner(outcome.id)
        if owner in (None, pod.metadata.uid):
            return outcome
        error = f"the runtime gave the ID {outcome.id}, which the pod with UID {owner} has"
        return Outcome(error=error, detail=error)

    async def refresh(self, uid: str, effect: Effect, outcome: Outcome) -> None:
        """Brings the cache up to date with an effect that has ended or was given up."""
        try:
            await self._refresh(uid, effect, outcome)
        except errors.CriError:
            # The effect keeps its outcome; the next list finds what it changed.
            self._host.pleg.request_relist()

    async def _call(self, pod: Pod, effect: Effect) -> Outcome:
        match effect:
            case RunSandbox(attempt):
                return await self._run_sandbox(pod, attempt)
            case StopSandbox(sandbox_id):
                await _unless_gone(self._client.stop_pod_sandbox(sandbox_id))
            case RemoveSandbox(sandbox_id):
                await _unless_gone(self._client.remove_pod_sandbox(sandbox_id))
            case InspectImage(image):
                return await self._images.inspect(image)
            case PullImage(image, sandbox_id):
                return await self._images.pull(image, self._config_of(pod, sandbox_id))
            case CreateContainer():
                return await self._create(pod, effect)
            case StartContainer(_, container_id):
                # Before the start: no probe of the container may be answered before.
                if self._shared_network is not None:
                    self._shared_network.doubt(pod, self._pod_ip(pod, container_id))
                await self._client.start_container(bare_id(container_id))
            case KillContainer():
                stop = self._client.stop_container(bare_id(effect.container_id), effect.grace_seconds)
                await _unless_gone(stop)
            case RemoveContainer():
                await self._remove(pod, effect)
            case RunHook():
                return await self._hooks.run(effect, pod.metadata.uid, self._pod_ip(pod, effect.container_id))
        return Outcome()

    async def _run_sandbox(self, pod: Pod, attempt: int) -> Outcome:
        if not self._host.on_host and needs_strict_groups(pod):
            features = (await self._client.status()).features
            if not features.supplemental_groups_policy:
                return Outcome(error=NO_STRICT_GROUPS, detail=NO_STRICT_GROUPS)
        below.make_directory(self._log_root, log_directory(pod))
        if self._kept_logs is not None:
            describe(self._log_root, described(pod))
            self._kept_logs.pod_begins(log_directory(pod))
        return Outcome(id=await self._client.run_pod_sandbox(self._sandbox_config(pod, attempt)))

    def _pod_ip(self, pod: Pod, container_id: str) -> str:
        """The address of a container's sandbox; empty if the sandbox has none of its own, or none is known."""
        container = self._cache.container(pod.metadata.uid, container_id)
        sandbox = self._cache.sandbox(pod.metadata.uid, container.sandbox_id) if container is not None else None
        return sandbox.ip or "" if sandbox is not None else ""

    async def _remove(self, pod: Pod, effect: RemoveContainer) -> None:
        """Removes the log, then the container, as the kubelet does (kuberuntime_container.go:removeContainer, 1.36)."""
        known = self._cache.container(pod.metadata.uid, effect.container_id)
        if known is not None and not effect.keep_log:
            self._remove_log(pod, effect.name, log_name(known.restart_count))
        if known is not None and self._files is not None:
            self._files.remove_message_file(pod.metadata.uid, effect.name, known.restart_count)
        await _unless_gone(self._client.remove_container(bare_id(effect.container_id)))

    def _remove_log(self, pod: Pod, container: str, log: str) -> None:
        """Removes the log and its rotated parts (kubelet ``containerLogManager.Clean``, 1.36)."""
        for name in files_of(log, below.names_in(self._log_root, log_directory(pod), container)):
            # The container's name comes from the runtime.
            with suppress(OSError):
                below.remove_file(self._log_root, log_directory(pod), container, name)

    def forget(self, pod: Pod) -> None:
        """Removes what a pod that is gone has left: its files, its address, and its logs unless they are kept."""
        if self._shared_network is not None:
            self._shared_network.forget(pod.metadata.uid)
        if self._files is not None:
            self._files.remove(pod.metadata.uid)
        if self._kept_logs is not None:
            self._kept_logs.pod_ended(log_directory(pod))
            return
        with suppress(OSError):
            below.remove_tree(self._log_root, log_directory(pod))

    async def _create(self, pod: Pod, effect: CreateContainer) -> Outcome:
        try:
            user = await self._image_user(pod, effect)
            sandbox = self._cache.sandbox(pod.metadata.uid, effect.sandbox_id)
            ip = pod_address(pod, sandbox.ip or "" if sandbox is not None else "", self._host.address)
            count = self._count(pod, effect)
            files = self._message_file(pod, effect, count), self._hosts_file(pod, ip)
            instance = Instance(count, effect.image_ref, user, *files)
            config = container_config(pod, effect.container, instance, self._place(ip), self._machine)
        except (ContainerConfigError, errors.CriError) as error:
            detail = error.detail if isinstance(error, errors.CriError) else str(error)
            return Outcome(error=str(error), detail=detail, unconfigured=True)
        if self._shared_network is not None:
            config.annotations[PROBED_PORTS] = ports_text(probed_ports(effect.container, ip))
        # The runtime writes the log, but does not make its directory.
        below.make_directory(self._log_root, log_directory(pod), effect.container.name)
        of_sandbox = self._config_of(pod, effect.sandbox_id)
        container_id = await self._client.create_container(effect.sandbox_id, config, of_sandbox)
        return Outcome(id=self._inspection.full_id(container_id))

    def _place(self, pod_ip: str) -> Place:
        return Place(
            node=self._host.node,
            pod_ip=pod_ip,
            host_ip=self._host.address,
            # The embedded runtime gives every container its address in a variable: a server has to bind that address.
            given={"POD_IP": pod_ip} if self._host.on_host and pod_ip else {},
            allocatable=self._machine.allocatable(),
            objects=self._objects.objects,
        )

    async def _image_user(self, pod: Pod, effect: CreateContainer) -> ImageUser:
        """The user of the container's image. Raises CriError, or ContainerConfigError if the pod forbids that user.

        The kubelet looks the image up by its name; by its ID no other image of that name can answer.
        """
        if self._host.on_host:
            return ImageUser()
        user = image_user(await self._client.image_status(effect.image_ref or effect.container.image))
        check_non_root(pod, effect.container, user)
        return user

    def _message_file(self, pod: Pod, effect: CreateContainer, count: int) -> Path | None:
        if self._files is None or not effect.container.termination_message_path:
            return None
        return self._files.make_message_file(pod.metadata.uid, effect.container.name, count)

    def _hosts_file(self, pod: Pod, ip: str) -> Path | None:
        if self._files is None or not ip:
            return None
        return self._files.write_hosts_file(pod.metadata.uid, lambda: hosts_file(pod, ip, self._machine.cluster_domain))

    def _count(self, pod: Pod, effect: CreateContainer) -> int:
        """The restart count. If the runtime has forgotten every instance, the names of their logs give it.

        Kubelet kuberuntime_container.go:calcRestartCountByLogDir, 1.36. The embedded runtime's logs end with it.
        """
        name = effect.container.name
        if self._host.on_host or self._cache.snapshot(pod.metadata.uid).newest(name) is not None:
            return effect.restart_count
        names = below.names_in(self._log_root, log_directory(pod), name)
        counts = (count_in(log.partition(".")[0]) for log in names if ".log" in log)
        return max([effect.restart_count, *(count + 1 for count in counts if count is not None)])

    def _config_of(self, pod: Pod, sandbox_id: str) -> api_pb2.PodSandboxConfig:
        """The configuration with which a sandbox was run: the runtime wants it again. Pod and attempt determine it."""
        sandbox = self._cache.sandbox(pod.metadata.uid, sandbox_id)
        return self._sandbox_config(pod, sandbox.attempt if sandbox is not None else 0)

    def _sandbox_config(self, pod: Pod, attempt: int) -> api_pb2.PodSandboxConfig:
        name = kernel_name(pod, self._machine.cluster_domain)
        return sandbox_config(pod, attempt=attempt, node=self._host.node, hostname=name, log_root=self._log_root)

    async def _refresh(self, uid: str, effect: Effect, outcome: Outcome) -> None:
        match effect:
            case RunSandbox() if outcome.id:
                await self._inspection.sandbox(uid, outcome.id)
            case StopSandbox(sandbox_id):
                await self._inspection.sandbox(uid, sandbox_id)
            case RemoveSandbox(sandbox_id) if not outcome.error:
                self._cache.drop(uid, sandbox_id)
            case CreateContainer() if outcome.id:
                await self._inspection.container(uid, outcome.id, effect.sandbox_id)
            case StartContainer(_, container_id) | KillContainer(_, container_id):
                known = self._cache.container(uid, container_id)
                await self._inspection.container(uid, container_id, known.sandbox_id if known else "")
            case RemoveContainer(_, container_id, _) if not outcome.error:
                self._cache.drop(uid, container_id)


async def _unless_gone(call: Awaitable[None]) -> None:
    """Awaits a call and ignores NotFound: a missing object needs no stop (kubelet ``crierror.IsNotFound``, 1.36)."""
    try:
        await call
    except errors.NotFound:
        return
