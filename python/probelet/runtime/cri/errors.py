"""The errors of CRI calls. Only ``cri.grpc_channel`` uses the gRPC library's own types.

The client raises these errors; a runtime served by ``cri.grpc_channel`` raises them to answer with that status code.
``str(error)`` is the text that the kubelet logs and puts into events: ``rpc error: code = NotFound desc = ...``.
"""

from typing import ClassVar

from probelet.errors import ProbeletError


class CriError(ProbeletError):
    """A CRI call failed. ``code`` is the status code in Go's spelling, ``detail`` the runtime's message."""

    code: ClassVar[str] = "Unknown"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail

    def __str__(self) -> str:
        return f"rpc error: code = {self.code} desc = {self.detail}"


class Canceled(CriError):
    """A proxy, or a runtime that shuts down, cancelled the call."""

    code = "Canceled"


class RuntimeRefused(CriError):
    """The runtime tried and failed (``Unknown``, containerd's code for most of its errors)."""

    code = "Unknown"


class InvalidArgument(CriError):
    """The request is wrong; a repetition fails too."""

    code = "InvalidArgument"


class DeadlineExceeded(CriError):
    """The runtime's or the client's deadline passed. For ExecSync it means the command's timeout."""

    code = "DeadlineExceeded"


class NotFound(CriError):
    """The runtime has no such sandbox or container."""

    code = "NotFound"


class AlreadyExists(CriError):
    """Another sandbox or container has the name."""

    code = "AlreadyExists"


class PermissionDenied(CriError):
    """The runtime does not permit the call."""

    code = "PermissionDenied"


class ResourceExhausted(CriError):
    """A limit of the runtime is exceeded: the size of a message, the runs in flight, or a slow reader's queue."""

    code = "ResourceExhausted"


class FailedPrecondition(CriError):
    """The state of the sandbox or container does not allow the call."""

    code = "FailedPrecondition"


class Aborted(CriError):
    """The runtime abandoned the call because of a conflict."""

    code = "Aborted"


class OutOfRange(CriError):
    """A value outside the runtime's range."""

    code = "OutOfRange"


class Unimplemented(CriError):
    """The runtime does not have this call (containerd 1.x: GetContainerEvents, RuntimeConfig)."""

    code = "Unimplemented"


class Internal(CriError):
    """An invariant is broken, in the runtime or in the stream to it."""

    code = "Internal"


class RuntimeUnavailable(CriError):
    """Nothing answers on the socket: the runtime is down, restarting, or ended during the call."""

    code = "Unavailable"


class DataLoss(CriError):
    """The runtime lost data."""

    code = "DataLoss"


class Unauthenticated(CriError):
    """The runtime requires credentials."""

    code = "Unauthenticated"


class NotARuntime(CriError):
    """No CRI v1 runtime listens on the endpoint. ``detail`` is one line for the user."""

    code = "Unavailable"

    def __str__(self) -> str:
        return self.detail


BY_CODE: dict[str, type[CriError]] = {
    kind.code: kind
    for kind in (
        Canceled,
        RuntimeRefused,
        InvalidArgument,
        DeadlineExceeded,
        NotFound,
        AlreadyExists,
        PermissionDenied,
        ResourceExhausted,
        FailedPrecondition,
        Aborted,
        OutOfRange,
        Unimplemented,
        Internal,
        RuntimeUnavailable,
        DataLoss,
        Unauthenticated,
    )
}
