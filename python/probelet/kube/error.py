"""Errors of the API server: one class for each thing that a caller does about them, one line for people.

``str(error)`` names verb, resource and object: ``patch pods/status default/web: Forbidden: User "x" cannot patch ...``.
No error of the HTTP library leaves the package.
"""

import re
from typing import Any, ClassVar, Final

import msgspec

from probelet.base.printable import one_line
from probelet.errors import InvalidInputError, ProbeletError
from probelet.spec.text.duration import SECOND

MESSAGE_CHARS_MAX: Final = 1024
"""An API server quotes whole objects in some messages; a log line holds the beginning. The kubelet's events end there
too (``core.v1.Event.message``)."""

REASON_CHARS_MAX: Final = 128
"""A reason is one word."""

RETRY_AFTER_MAX_NS: Final = 300 * SECOND
"""The longest wait that a server may ask for; a proxy that says a day would otherwise stop an agent for a day."""


class KubeConfigError(InvalidInputError):
    """How to reach the API server is not known, or a file about it is wrong: one line with path, value and rule."""


class Call(msgspec.Struct, frozen=True):
    """The request, as an error and a metric name it."""

    verb: str
    """The verb as RBAC has it: get, list, watch, create, update, patch, delete; and ``apply``, which RBAC calls
    patch."""
    resource: str
    """``pods``, ``pods/status``, ``leases.coordination.k8s.io``."""
    object: str = ""
    """``namespace/name``, ``name``, or empty for a collection."""

    def __str__(self) -> str:
        return " ".join(part for part in (self.verb, self.resource, self.object) if part)


class KubeError(ProbeletError):
    """A request failed. ``code`` is the HTTP status, 0 if there is none."""

    reason: ClassVar[str] = "Unknown"

    def __init__(self, call: Call, message: str, *, code: int = 0, reason: str = "", retry_after_ns: int = 0) -> None:
        self.call = call
        self.code = code
        self.message = one_line(message[:MESSAGE_CHARS_MAX])
        self.status_reason = one_line(reason[:REASON_CHARS_MAX]) or self.reason
        self.retry_after_ns = min(retry_after_ns, RETRY_AFTER_MAX_NS)
        """How long the server asks to be left alone (``Retry-After``), 0 if it does not say."""
        super().__init__(f"{call}: {self.status_reason}: {self.message}")


class Unauthorized(KubeError):
    """401: the credentials are missing, wrong or no longer valid."""

    reason = "Unauthorized"


class Forbidden(KubeError):
    """403: the API server knows the caller, whose roles do not allow the call, or an admission policy refused it."""

    reason = "Forbidden"


class NotFound(KubeError):
    """404: no such object, or no such resource."""

    reason = "NotFound"


class Conflict(KubeError):
    """409: the object has changed, or is another one than the caller means. Also 422 for ``metadata.uid``."""

    reason = "Conflict"


class AlreadyExists(Conflict):
    """409: another object has the name."""

    reason = "AlreadyExists"


class Expired(KubeError):
    """A list or watch cannot go on from its version: read the collection again.

    410 as a status or in the stream: the server has forgotten the version.
    """

    reason = "Expired"


class Invalid(KubeError):
    """400 or 422: the request or the object is wrong; a repetition fails too."""

    reason = "Invalid"


class TooManyRequests(KubeError):
    """429: the server limits its clients; ``retry_after_ns`` says for how long."""

    reason = "TooManyRequests"


class ServerError(KubeError):
    """5xx: the server, or a proxy before it, failed."""

    reason = "InternalError"


class Unreachable(KubeError):
    """No answer: refused, closed, timed out, silent, or a certificate that cannot be verified."""

    reason = "Unreachable"


class Garbage(KubeError):
    """The answer is not one of an API server, or is longer than any of its answers."""

    reason = "Garbage"


_BY_CODE: Final[dict[int, type[KubeError]]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Expired,
    422: Invalid,
    429: TooManyRequests,
}


class Cause(msgspec.Struct, frozen=True):
    """``details.causes`` of a Status, the part that is read."""

    field: str = ""


class Details(msgspec.Struct, frozen=True, rename="camel"):
    """``details`` of a Status, the part that is read."""

    causes: tuple[Cause, ...] = ()
    retry_after_seconds: int = 0


class Status(msgspec.Struct, frozen=True):
    """``metav1.Status``, the part that is read."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: Details | None = None


def error_of_status(call: Call, status: Status, *, code: int = 0, retry_after_ns: int = 0) -> KubeError:
    """The error for a Status object; ``code`` is that of the HTTP answer, for a Status without one."""
    details = status.details or Details()
    code = status.code or code
    if status.reason == "AlreadyExists":
        kind: type[KubeError] = AlreadyExists
    elif any(cause.field == "metadata.uid" for cause in details.causes):
        # A patch with the UID of another object of that name is a wrong field for the server; a replacement or a
        # deletion with it is a Conflict. It is the same thing for a caller.
        kind = Conflict
    else:
        kind = _BY_CODE.get(code) or (ServerError if code >= 500 else KubeError)
    wait = retry_after_ns or max(0, details.retry_after_seconds) * SECOND
    return kind(call, status.message or "no message", code=code, reason=status.reason, retry_after_ns=wait)


def error_of_answer(call: Call, code: int, body: bytes, retry_after: str) -> KubeError:
    """The error for an answer outside 2xx: its Status, or of a proxy's page the first line."""
    # More digits are no number of seconds; a date, which HTTP allows too, is one of another machine's clock.
    wait = int(retry_after) * SECOND if re.fullmatch("[0-9]{1,9}", retry_after) else 0
    try:
        status = msgspec.json.decode(body, type=Status)
    except (msgspec.MsgspecError, RecursionError):
        text = body[: 4 * MESSAGE_CHARS_MAX].decode("utf-8", "replace").strip()
        status = Status(message=text or "an empty body")
    return error_of_status(call, status, code=code, retry_after_ns=wait)


def error_of_object(call: Call, found: dict[str, Any]) -> KubeError:
    """The error for the Status object of an ERROR event in a watch."""
    try:
        status = msgspec.convert(found, type=Status)
    except msgspec.ValidationError as error:
        return Garbage(call, f"an ERROR event without a Status: {error}")
    return error_of_status(call, status)
