"""The parameters of a request."""

from typing import Final

from aiohttp import web

from probelet.server.limit import HISTORY_MAX

DIGITS_MAX: Final = 20
"""Python refuses to read a number of thousands of digits."""

VERSION_MAX: Final = 2**53
"""JavaScript has no whole numbers beyond."""


def history_asked(request: web.Request) -> int:
    """How many of the last attempts of each probe the request asks for.

    Raises:
        web.HTTPBadRequest: It asks for more than there are, or not for a number.
    """
    return number_asked(request, "history", HISTORY_MAX)


def number_asked(request: web.Request, name: str, most: int) -> int:
    """A whole number of the query; 0 if the query does not have it.

    Raises:
        web.HTTPBadRequest: It is no number from 0 to ``most``.
    """
    text = request.query.get(name, "0")
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX else -1
    if not 0 <= number <= most:
        raise web.HTTPBadRequest(text=f"want {name} from 0 to {most}")
    return number
