"""The memory that an executor has of a ContainerRecreateRequest, from before its first kill until the request is
over."""

from typing import Final, Literal

import msgspec

FOLDER: Final = "requests"
"""The folder in the state directory; a file is named after the request's UID."""


class RequestNote(msgspec.Struct, frozen=True, kw_only=True):
    """The kills for one request, ``probelet-request/1``."""

    schema: Literal["probelet-request/1"] = "probelet-request/1"
    uid: str
    killed: dict[str, str]
    """The instance that was killed of each container, ``type://id``: another one is never killed for this request."""
