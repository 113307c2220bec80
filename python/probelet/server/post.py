"""JSON to a URL of somebody else's: the one kind of request that probelet sends beside those to an API server."""

import ssl
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import aiohttp
import msgspec

POST_SECONDS: Final = 10.0
"""Time for one request."""

_AGAIN: Final = frozenset({408, 425, 429})
"""Refusals that may end by themselves, as those from 500 on do."""


class Refused(NamedTuple):
    """A request that did not succeed."""

    why: str
    may_pass: bool
    """Whether the same request may succeed later."""


class JsonPost:
    """POST requests to ``url``, one at a time; an async context manager."""

    def __init__(self, url: str) -> None:
        self._url = url
        # A process that keeps no connection open notices that a server was replaced.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(force_close=True, limit=1, ssl=_authorities(url)),
            timeout=aiohttp.ClientTimeout(total=POST_SECONDS),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._session.close()

    async def send(self, document: Any) -> Refused | None:
        """Sends a document; the body of the answer is not read. Follows no redirect: it would lead elsewhere than the
        configuration says."""
        body, headers = msgspec.json.encode(document), {"Content-Type": "application/json"}
        try:
            async with self._session.post(self._url, data=body, headers=headers, allow_redirects=False) as answer:
                status = answer.status
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return Refused(str(error) or type(error).__name__, may_pass=True)
        if 200 <= status < 300:
            return None
        return Refused(f"status {status}", may_pass=status in _AGAIN or status >= 500)


def _authorities(url: str) -> ssl.SSLContext | bool:
    """The context that checks a certificate; aiohttp's own may trust nobody (``server.library``)."""
    return ssl.create_default_context() if url.startswith("https:") else True
