"""The refusal of a call."""

from typing import Literal

from probelet.base.printable import printable
from probelet.errors import ProbeletError
from probelet.service.limit import DETAIL_BYTES_MAX


class RequestError(ProbeletError):
    """The service refuses a call: ``code`` is the name of the gRPC status, the text is its message."""

    def __init__(self, code: Literal["ALREADY_EXISTS", "INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"], message: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def details(self) -> str:
        """The message as the caller gets it: printable, because it repeats parts of the request, and not too long for
        gRPC, which would replace the whole status by one about metadata."""
        text = "\n".join(map(printable, str(self).split("\n")))
        return text.encode(errors="replace")[:DETAIL_BYTES_MAX].decode(errors="ignore")
