"""The texts of statuses and events, as OpenKruise's manager and daemon write them (kruise 1.9.0)."""

from typing import Final

POD_GONE: Final = "pod has gone"
NOT_ANSWERED: Final = "daemon has not responded for a long time"
DEADLINE: Final = "recreating has exceeded the activeDeadlineSeconds"
NOT_FOUND: Final = "not found container on Node"


def stopping(container: str, request: str) -> str:
    """The message of the Killing event."""
    return f"Stopping container {container} by ContainerRecreateRequest {request}"


def kill_error(error: str) -> str:
    """Why a container has failed."""
    return f"kill container error: {error}"


def no_runtime(why: str) -> str:
    """Why a request cannot be carried out at all."""
    return f"failed to find runtime service: {why}"
