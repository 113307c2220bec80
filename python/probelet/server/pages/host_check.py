"""The Host of a request: a web page that a browser has open must not read the pages of this machine.

Such a page may let its own name lead to 127.0.0.1 (DNS rebinding). The browser then asks for the pages on its behalf,
with that name as Host. An address in place of a name leads nowhere else.
"""

import ipaddress
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware

from probelet.server.address import Address, Listening
from probelet.server.refusals import Refusals

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def middlewares_for(listening: Listening, refusals: Refusals) -> list[Middleware]:
    """The checks that pages need which listen there: none beyond loopback, where an address has names that this service
    does not know."""
    address = listening.address
    if isinstance(address, Address) and not listening.is_remote:
        return [HostCheck(address.host, refusals).check]
    return []


class HostCheck:
    """Refuses requests whose Host is neither an address nor ``name``, the name to listen on, nor localhost.

    A request without a Host comes from no browser.
    """

    def __init__(self, name: str, refusals: Refusals) -> None:
        self._names = frozenset({"localhost", name.lower()})
        self._refusals = refusals

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Middleware: answers a refused request with 421."""
        host = request.headers.get("Host")
        if host is None or self.accepts(host):
            return await handler(request)
        self._refusals.record("host")
        return web.Response(status=421, text="Host must be localhost, an IP address or the name in --listen\n")

    def accepts(self, host: str) -> bool:
        """Whether a request with this Host is answered."""
        name = host.partition("]")[0][1:] if host.startswith("[") else host.partition(":")[0]
        if name.lower().removesuffix(".") in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True
