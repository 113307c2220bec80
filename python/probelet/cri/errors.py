"""What a CRI call can fail with. The gRPC library's own types never leave ``cri.wire``.

The client raises these, and a runtime built on ``cri.wire`` raises the same ones to answer with that status code.
``str(error)`` is the text the kubelet logs and puts into events: ``rpc error: code = NotFound desc = ...``.
"""

from typing import ClassVar

from probelet.errors import ProbeletError


class CriError(ProbeletError):
    """A CRI call that failed. ``code`` is the status code as Go spells it, ``detail`` the runtime's own words."""

    code: ClassVar[str] = "Unknown"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail

    def __str__(self) -> str:
        return f"rpc error: code = {self.code} desc = {self.detail}"


class Canceled(CriError):
    """The call was cancelled on the way, by a proxy or by a runtime that shuts down."""

    code = "Canceled"


class RuntimeRefused(CriError):
    """The runtime tried and failed (``Unknown``: what containerd answers for most of its errors)."""

    code = "Unknown"


class InvalidArgument(CriError):
    """The request itself is wrong; the same request will fail again."""

    code = "InvalidArgument"


class DeadlineExceeded(CriError):
    """The runtime, or the client's own deadline, gave up waiting. For ExecSync this is the command's timeout."""

    code = "DeadlineExceeded"


class NotFound(CriError):
    """The runtime knows no such sandbox or container."""

    code = "NotFound"


class AlreadyExists(CriError):
    """The name is taken by another sandbox or container."""

    code = "AlreadyExists"


class PermissionDenied(CriError):
    """The runtime does not allow this."""

    code = "PermissionDenied"


class ResourceExhausted(CriError):
    """A limit of the runtime is reached: messages too large, too many runs in flight, a reader too slow."""

    code = "ResourceExhausted"


class FailedPrecondition(CriError):
    """The sandbox or container is in a state that does not allow this."""

    code = "FailedPrecondition"


class Aborted(CriError):
    """The runtime gave up because of a conflict."""

    code = "Aborted"


class OutOfRange(CriError):
    """A value outside the runtime's range."""

    code = "OutOfRange"


class Unimplemented(CriError):
    """The runtime does not have this call (containerd 1.x: GetContainerEvents, RuntimeConfig)."""

    code = "Unimplemented"


class Internal(CriError):
    """A broken invariant: in the runtime, or in the stream between it and us."""

    code = "Internal"


class RuntimeUnavailable(CriError):
    """Nobody answers on the socket: the runtime is not running, restarting, or went away during the call."""

    code = "Unavailable"


class DataLoss(CriError):
    """The runtime lost data."""

    code = "DataLoss"


class Unauthenticated(CriError):
    """The runtime asks for credentials."""

    code = "Unauthenticated"


class NotARuntime(CriError):
    """What listens on the endpoint, if anything, is not a CRI v1 runtime. ``detail`` is one line for the user."""

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
