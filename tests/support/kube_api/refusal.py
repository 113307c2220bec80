"""Answers that refuse a request, as Status objects."""

from typing import Any

REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Expired",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


class RefusalError(Exception):
    """The server refuses a request with this status."""

    def __init__(self, code: int, message: str, reason: str = "", cause: str = "", field: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.status = status(code, message, reason, cause, field)


def status(code: int, message: str, reason: str = "", cause: str = "", field: str = "") -> dict[str, Any]:
    """A Status object; the reason is that of the code unless one is given."""
    found: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason or REASONS.get(code, "Unknown"),
        "code": code,
    }
    if cause:
        found["details"] = {"causes": [{"reason": cause, "message": message, "field": field}]}
    return found


def gone(version: int | str) -> RefusalError:
    return RefusalError(410, f"too old resource version: {version}")
