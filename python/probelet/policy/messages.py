"""Event reasons and texts, and waiting reasons, as the kubelet writes them (1.36).

Sources: pkg/kubelet/kuberuntime/kuberuntime_manager.go, kuberuntime_container.go, pkg/kubelet/events/event.go.
"""

from collections.abc import Sequence
from typing import Final

from probelet.spec.text.golang import go_quote

BACK_OFF: Final = "BackOff"
CREATED: Final = "Created"
ERR_IMAGE_NEVER_PULL: Final = "ErrImageNeverPull"
FAILED: Final = "Failed"
FAILED_CREATE_POD_SANDBOX: Final = "FailedCreatePodSandBox"
FAILED_KILL_POD: Final = "FailedKillPod"
FAILED_POST_START_HOOK: Final = "FailedPostStartHook"
FAILED_PRE_STOP_HOOK: Final = "FailedPreStopHook"
INSPECT_FAILED: Final = "InspectFailed"
KILLING: Final = "Killing"
KILL_HELD: Final = "KillHeld"
"""Ours: a kubelet's kill waits for nothing."""
LIFECYCLE_HTTP_FALLBACK: Final = "LifecycleHTTPFallback"
PORT_CONFLICT: Final = "PortConflict"
"""Ours: under a kubelet every pod has a network of its own."""
PULLED: Final = "Pulled"
PULLING: Final = "Pulling"
SANDBOX_CHANGED: Final = "SandboxChanged"
STARTED: Final = "Started"

CONTAINER_CREATED: Final = "Container created"
CONTAINER_STARTED: Final = "Container started"
POST_START_HOOK_FAILED: Final = "PostStartHook failed"
PRE_STOP_HOOK_FAILED: Final = "PreStopHook failed"
RESET_CONTAINER: Final = "killing"
SANDBOX_CHANGED_MESSAGE: Final = "Pod sandbox changed, it will be killed and re-created."

# Why a container is waiting (kubelet pkg/kubelet/container/sync_result.go, kuberuntime_container.go and
# kubelet_pods.go, 1.36).
CONTAINER_CREATING: Final = "ContainerCreating"
CRASH_LOOP_BACK_OFF: Final = "CrashLoopBackOff"
CREATE_CONTAINER_CONFIG_ERROR: Final = "CreateContainerConfigError"
CREATE_CONTAINER_ERROR: Final = "CreateContainerError"
ERR_IMAGE_PULL: Final = "ErrImagePull"
IMAGE_INSPECT_ERROR: Final = "ImageInspectError"
IMAGE_PULL_BACK_OFF: Final = "ImagePullBackOff"
INVALID_IMAGE_NAME: Final = "InvalidImageName"
POD_INITIALIZING: Final = "PodInitializing"
POST_START_HOOK_ERROR: Final = "PostStartHookError"
RESTART_BUDGET: Final = "RestartBudget"
"""Ours: the kubelet has no budget."""
RESTARTING_ALL_CONTAINERS: Final = "RestartingAllContainers"
RUN_CONTAINER_ERROR: Final = "RunContainerError"

# The status of a container whose end was not observed (kubelet_pods.go:convertToAPIContainerStatuses, 1.36).
CONTAINER_STATUS_UNKNOWN: Final = "ContainerStatusUnknown"
EXIT_UNKNOWN: Final = "The runtime lists the container as exited and has not said how it ended"
"""Ours: the kubelet writes no status of a pod while it lacks one of its containers'."""
INIT_CONTAINER_FORGOTTEN: Final = (
    "Unable to get init container status from container runtime and pod has been initialized, treat it as exited "
    "normally"
)
OOM_KILLED: Final = "OOMKilled"
REMOVED_FOR_RESTART: Final = "The container is removed because RestartAllContainers in place"

# Errors of a pull that a runtime may name itself (cri-api pkg/errors, 1.36), and what the kubelet makes of them.
PULL_ERRORS: Final = {
    "RegistryUnavailable": "the registry is unavailable",
    "SignatureValidationFailed": "the signature validation failed",
}

INVALID_HOOK: Final = "Cannot run handler: invalid handler: only exec, httpGet and sleep can be run"
PLAIN_HTTP_ANSWER: Final = "server gave HTTP response to HTTPS client"
"""This part of an HTTPS hook's error has the kubelet try the hook without TLS."""


def pod_text(name: str, namespace: str, uid: str) -> str:
    """The pod as the kubelet's ``format.Pod`` writes it: ``name_namespace(uid)``."""
    return f"{name}_{namespace}({uid})"


def failed_probe(container: str, probe: str, *, init: bool) -> str:
    """Why a container is killed after a probe; ``probe`` is ``liveness`` or ``startup``."""
    who = "Init container" if init else "Container"
    return f"{who} {container} failed {probe} probe"


def definition_changed(container: str, *, init: bool) -> str:
    """The reason of a kill because the pod now asks for another image."""
    return f"{'Init container' if init else 'Container'} {container} definition changed"


def unknown_state(*, init: bool) -> str:
    """The reason of a kill because the runtime does not know whether the container runs."""
    return f'{"Init container" if init else "Container"} is in "unknown" state, try killing it before restart'


def will_be_restarted(message: str) -> str:
    """A kill's message when the container is wanted again. Init containers never get it."""
    return f"{message}, will be restarted"


def stopping(container: str) -> str:
    """The message of a kill that has no other reason: the pod ends."""
    return f"Stopping container {container}"


def back_off_event(container: str, pod: str) -> str:
    """The event of a refused start; ``pod`` as ``pod_text`` gives it."""
    return f"Back-off restarting failed container {container} in pod {pod}"


def back_off_waiting(delay_ns: int, container: str, pod: str) -> str:
    """The waiting message. It shows the stored delay, not what is left of it."""
    return f"back-off {go_duration(delay_ns)} restarting failed container={container} pod={pod}"


def budget_event(container: str, pod: str) -> str:
    """The event of a start that waits for the node's restart budget (ours)."""
    return f"Restart of container {container} in pod {pod} waits for the restart budget of the node"


def budget_waiting(container: str, pod: str) -> str:
    """The waiting message of such a container; when it is due is in the status document."""
    return f"restart of container={container} pod={pod} waits for the restart budget of the node"


def bad_image_name(image: str, error: str) -> str:
    """The event and the waiting message of an image whose name cannot be read."""
    return f"Failed to apply default image tag {go_quote(image)}: couldn't parse image name {go_quote(image)}: {error}"


def inspect_failed(image: str, error: str) -> str:
    """The runtime did not say whether it has the image."""
    return f"Failed to inspect image {go_quote(image)}: {error}"


def image_present(image: str) -> str:
    """The event of an image that needs no pull."""
    return f"Container image {go_quote(image)} already present on machine and can be accessed by the pod"


def never_pulled(image: str) -> str:
    """An image that is missing and may not be pulled."""
    return f"Container image {go_quote(image)} is not present with pull policy of Never"


def pulling(image: str) -> str:
    """The event of a pull that begins."""
    return f"Pulling image {go_quote(image)}"


def pulled(image: str, took_ns: int, with_wait_ns: int, size: int) -> str:
    """The event of a pull that succeeded; times are cut to milliseconds, ``size`` is in bytes."""
    took, waited = (go_duration(ns // 1_000_000 * 1_000_000) for ns in (took_ns, with_wait_ns))
    image = go_quote(image)
    return f"Successfully pulled image {image} in {took} ({waited} including waiting). Image size: {size} bytes."


def pull_failed(image: str, error: str) -> str:
    """The event of a pull that failed."""
    return f"Failed to pull image {go_quote(image)}: {error}"


def back_off_pulling(image: str) -> str:
    """The event of a pull that has to wait; the waiting message goes on with the last pull's error."""
    return f"Back-off pulling image {go_quote(image)}"


def error_event(detail: str) -> str:
    """The event of a container that could not be created or started; ``detail`` is the runtime's own words."""
    return f"Error: {detail}"


def named(text: str, container_id: str, name: str) -> str:
    """The text with the runtime's id replaced by the container's name, so that equal failures are equal events.

    Kubelet kuberuntime_container.go:recordContainerEvent, 1.36. ``container_id`` is ``type://id``.
    """
    return text.replace(container_id.partition("://")[2], name)


def failed_sandbox(error: str) -> str:
    """The event of a sandbox that could not be created; ``error`` with its code."""
    return f"Failed to create pod sandbox: {error}"


def failed_kill(error: str) -> str:
    """The event of a pod that could not be killed."""
    return f"error killing pod: {error}"


def exec_hook_failed(command: Sequence[str], container: str, pod: str, error: str, output: str) -> str:
    """The waiting message after a failed exec hook; ``pod`` as ``pod_text`` gives it."""
    who = f"Container {go_quote(container)} in Pod {go_quote(pod)}"
    return f"Exec lifecycle hook ([{' '.join(command)}]) for {who} failed - error: {error}, message: {go_quote(output)}"


def http_hook_failed(path: str, container: str, pod: str, error: str) -> str:
    """The waiting message after a failed HTTP hook."""
    who = f"Container {go_quote(container)} in Pod {go_quote(pod)}"
    return f"HTTP lifecycle hook ({path}) for {who} failed - error: {error}"


def http_fallback(host: str) -> str:
    """The event of an HTTPS hook whose server answered only plain HTTP; ``host`` with its port."""
    return f"request to HTTPS lifecycle hook {host} got HTTP response, retry with HTTP succeeded"


def port_conflict(ip: str, port: int, owner: str) -> str:
    """The event of a probe that another program answered (ours); ``owner`` with its listener."""
    why = "so probes of this pod there count as refused; a server that listens on $POD_IP answers for its own pod alone"
    return f"{owner}, and answers at {ip}:{port} because nothing of this pod listens there, {why}"


def go_duration(ns: int) -> str:
    """Nanoseconds as Go prints a Duration: ``10s``, ``1m20s``, ``5m0s``, ``1.5s``, ``500ms``."""
    if ns < 1_000_000_000:
        for unit, length in (("ms", 1_000_000), ("µs", 1_000), ("ns", 1)):
            if ns >= length:
                return f"{_decimal(ns, length)}{unit}"
        return "0s"
    hours, rest = divmod(ns, 3_600_000_000_000)
    minutes, rest = divmod(rest, 60_000_000_000)
    seconds = f"{_decimal(rest, 1_000_000_000)}s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _decimal(ns: int, unit: int) -> str:
    whole, part = divmod(ns, unit)
    digits = f"{part:0{len(str(unit)) - 1}d}".rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)
