"""The refusal of a call."""

from typing import Literal

from probelet.errors import ProbeletError


class RequestError(ProbeletError):
    """The service refuses a call: ``code`` is the name of the gRPC status, the text is its message."""

    def __init__(self, code: Literal["ALREADY_EXISTS", "INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"], message: str) -> None:
        super().__init__(message)
        self.code = code
