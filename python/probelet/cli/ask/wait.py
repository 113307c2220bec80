"""Waits until pods are in a state: ``probelet status --wait``."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from probelet.cli.exit import CliError, Exit
from probelet.server.error import NotRunningError

LOOK_SECONDS: Final = 0.2
"""Pause between two looks: a person sees no delay, and the service answers from memory."""

READY: Final = "ready"

STATES: Final = (
    READY,
    # Phases of a pod, and the reasons that it may have.
    *("Pending", "Running", "Succeeded", "Failed", "Unknown", "DeadlineExceeded", "Evicted"),
    # States of a container, and their reasons.
    *("waiting", "running", "terminated"),
    *("ContainerCreating", "PodInitializing", "CrashLoopBackOff", "Completed", "Error", "OOMKilled"),
    *("ContainerCannotRun", "ContainerStatusUnknown", "RestartingAllContainers", "StartError", "RunContainerError"),
    *("CreateContainerError", "CreateContainerConfigError", "PostStartHookError", "FailedPostStartHook"),
    *("ErrImagePull", "ErrImageNeverPull", "ImagePullBackOff", "ImageInspectError", "InvalidImageName"),
    *("RegistryUnavailable", "SignatureValidationFailed"),
)
"""Every state that a pod or container can be in; a wait for another one would never end."""


@dataclass(frozen=True)
class Condition:
    """``state`` of the pod ``pod``, or of every pod if that is empty."""

    pod: str
    state: str

    def __str__(self) -> str:
        return f"{self.pod}={self.state}" if self.pod else self.state

    def is_met(self, pods: list[dict[str, Any]]) -> bool:
        """True if there is such a pod, and every such pod is in the state: ready, a phase, or the state or reason of
        one of its containers."""
        meant = [pod for pod in pods if self.pod in ("", pod["name"], f"{pod['namespace']}/{pod['name']}")]
        return bool(meant) and all(self._holds(pod) for pod in meant)

    def _holds(self, pod: dict[str, Any]) -> bool:
        if self.state == READY:
            return bool(pod["ready"])
        of_containers = {container[key] for container in pod["containers"] for key in ("state", "reason")}
        return self.state in {pod["phase"], pod.get("reason"), *of_containers}


def parse_condition(text: str) -> Condition:
    """Reads ``STATE`` or ``POD=STATE``. Raises CliError."""
    pod, equals, state = text.rpartition("=")
    if not state or (equals and not pod):
        raise CliError(f'--wait "{text}": must be STATE or POD=STATE', hint="probelet status --wait web=ready")
    if state not in STATES:
        import difflib

        lower = {known.lower(): known for known in STATES}
        close = difflib.get_close_matches(state.lower(), lower, n=1)
        meant = f"did you mean {lower[close[0]]}?" if close else f"must be one of {', '.join(STATES)}"
        raise CliError(f'--wait "{text}": there is no state "{state}": {meant}')
    return Condition(pod, state)


def wait_for(read: Callable[[], dict[str, Any]], conditions: list[Condition], seconds: float) -> dict[str, Any]:
    """The first status document in which every condition is met.

    A service that does not answer yet is waited for too. After ``seconds`` raises CliError, or NotRunningError if no
    service answers then.
    """
    deadline = time.monotonic() + seconds
    while True:
        missing = conditions
        try:
            document = read()
            missing = [condition for condition in conditions if not condition.is_met(document["pods"])]
            if not missing:
                return document
        except NotRunningError:
            if time.monotonic() >= deadline:
                raise
        if time.monotonic() >= deadline:
            names = ", ".join(map(str, missing))
            raise CliError(f"timed out waiting for the condition: {names}", code=Exit.FAILED, hint="probelet status")
        time.sleep(LOOK_SECONDS)
