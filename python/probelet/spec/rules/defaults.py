"""The API server's defaulting (``SetObjectDefaults_Pod``, 1.36) for the fields that probelet reads.

A number that is 0 counts as absent: an explicit 0 silently becomes the default. The published "minimum value is 1"
means this.
"""

from msgspec.structs import replace

from probelet.spec.model.container import Container, ContainerPort, Lifecycle, LifecycleHandler
from probelet.spec.model.env import EnvVar
from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.model.probe import HTTPGetAction, Probe
from probelet.spec.text.image import default_pull_policy

TIMEOUT_SECONDS = 1
PERIOD_SECONDS = 10
SUCCESS_THRESHOLD = 1
FAILURE_THRESHOLD = 3
TERMINATION_GRACE_PERIOD_SECONDS = 30
TERMINATION_MESSAGE_PATH = "/dev/termination-log"
TERMINATION_MESSAGE_POLICY = "File"


def set_defaults(pod: Pod) -> Pod:
    """A copy of ``pod`` with every default filled in. Idempotent; does not change ``pod``."""
    return replace(
        pod,
        api_version=pod.api_version or "v1",
        kind=pod.kind or "Pod",
        metadata=_meta(pod.metadata),
        spec=_spec(pod.spec),
    )


def _meta(meta: ObjectMeta) -> ObjectMeta:
    return meta if meta.namespace else replace(meta, namespace="default")


def _spec(spec: PodSpec) -> PodSpec:
    grace = spec.termination_grace_period_seconds
    on_host = spec.host_network
    return replace(
        spec,
        containers=[_container(container, on_host=on_host) for container in spec.containers],
        init_containers=[_container(container, on_host=on_host) for container in spec.init_containers],
        ephemeral_containers=[_container(container) for container in spec.ephemeral_containers],
        restart_policy=spec.restart_policy or "Always",
        termination_grace_period_seconds=TERMINATION_GRACE_PERIOD_SECONDS if grace is None else grace,
    )


def _container(container: Container, *, on_host: bool = False) -> Container:
    return replace(
        container,
        env=[_variable(variable) for variable in container.env],
        image_pull_policy=container.image_pull_policy or _pull_policy(container.image),
        ports=[_port(port, on_host=on_host) for port in container.ports],
        liveness_probe=set_probe_defaults(container.liveness_probe),
        readiness_probe=set_probe_defaults(container.readiness_probe),
        startup_probe=set_probe_defaults(container.startup_probe),
        lifecycle=_lifecycle(container.lifecycle),
        termination_message_path=container.termination_message_path or TERMINATION_MESSAGE_PATH,
        termination_message_policy=container.termination_message_policy or TERMINATION_MESSAGE_POLICY,
    )


def _pull_policy(image: str) -> str:
    # Without an image the container is a program of this machine: there is nothing to pull.
    return default_pull_policy(image) if image else ""


def _variable(variable: EnvVar) -> EnvVar:
    source = variable.value_from
    if source is None or source.field_ref is None or source.field_ref.api_version:
        return variable
    return replace(variable, value_from=replace(source, field_ref=replace(source.field_ref, api_version="v1")))


def _port(port: ContainerPort, *, on_host: bool) -> ContainerPort:
    """A container on the host's network listens there, so the host's port is its own (``defaultHostNetworkPorts``)."""
    host_port = port.host_port or port.container_port if on_host else port.host_port
    return replace(port, protocol=port.protocol or "TCP", host_port=host_port)


def set_probe_defaults(probe: Probe | None) -> Probe | None:
    """Fills in the defaults of one probe (``SetDefaults_Probe``); None stays None."""
    if probe is None:
        return None
    grpc = probe.grpc
    if grpc is not None and grpc.service is None:
        grpc = replace(grpc, service="")
    return replace(
        probe,
        http_get=_http_get(probe.http_get),
        grpc=grpc,
        timeout_seconds=probe.timeout_seconds or TIMEOUT_SECONDS,
        period_seconds=probe.period_seconds or PERIOD_SECONDS,
        success_threshold=probe.success_threshold or SUCCESS_THRESHOLD,
        failure_threshold=probe.failure_threshold or FAILURE_THRESHOLD,
    )


def _http_get(action: HTTPGetAction | None) -> HTTPGetAction | None:
    if action is None or (action.path and action.scheme):
        return action
    return replace(action, path=action.path or "/", scheme=action.scheme or "HTTP")


def _lifecycle(lifecycle: Lifecycle | None) -> Lifecycle | None:
    if lifecycle is None:
        return None
    return replace(lifecycle, post_start=_hook(lifecycle.post_start), pre_stop=_hook(lifecycle.pre_stop))


def _hook(handler: LifecycleHandler | None) -> LifecycleHandler | None:
    return None if handler is None else replace(handler, http_get=_http_get(handler.http_get))
