"""What a caller got wrong, or may not do."""

from typing import Literal

from probelet.errors import ProbeletError


class RequestError(ProbeletError):
    """A call that is refused; ``code`` is the name of its gRPC status, the text its message."""

    def __init__(self, code: Literal["ALREADY_EXISTS", "INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"], message: str) -> None:
        super().__init__(message)
        self.code = code
