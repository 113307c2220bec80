"""The memory of large bodies that are arriving. A body holds the bytes that have arrived, not a place in a queue, so a
slow one keeps no other one waiting. If all of them together hold too much, the one that began first gives way: a review
of an API server arrives within milliseconds."""

from aiohttp import web
from aiohttp.streams import StreamReader

from probelet.errors import ProbeletError


class DisplacedError(ProbeletError):
    """The body gave way to others."""


class LargeBodies:
    """``bytes_max`` is for all bodies together, ``body_max`` for one of them, and not above it."""

    def __init__(self, bytes_max: int, body_max: int) -> None:
        self.held = 0
        """Bytes of all bodies that are arriving."""
        self._bytes_max = bytes_max
        self._body_max = body_max
        self._arriving: dict[StreamReader, int] = {}
        """The bytes of each body, in the order of their beginnings."""

    async def read(self, content: StreamReader) -> bytes:
        """Reads a body to its end. Raises DisplacedError, HTTPRequestEntityTooLarge."""
        body = bytearray()
        self._arriving[content] = 0
        try:
            while piece := await content.readany():
                body += piece
                if len(body) > self._body_max:
                    raise web.HTTPRequestEntityTooLarge(self._body_max, len(body))
                self._take(content, len(piece))
        finally:
            self._release(content)
        return bytes(body)

    def _take(self, content: StreamReader, count: int) -> None:
        if content not in self._arriving:
            # It has given way; a stream gives what has arrived before it raises its exception.
            raise _displaced()
        self._arriving[content] += count
        self.held += count
        while self.held > self._bytes_max:
            first = next(iter(self._arriving))
            self._release(first)
            if first is content:
                raise _displaced()
            first.set_exception(_displaced())

    def _release(self, content: StreamReader) -> None:
        self.held -= self._arriving.pop(content, 0)


def _displaced() -> DisplacedError:
    return DisplacedError("larger bodies arrive than there is memory for")
