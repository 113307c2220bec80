"""What a listener does to a client: functions, each known by its name with dashes."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from tests.handlers.hostile.target.connection import Connection

Behaviour: TypeAlias = Callable[[Connection], Awaitable[None]]


def named(*behaviours: Behaviour) -> Mapping[str, Behaviour]:
    return {behaviour.__name__.replace("_", "-"): behaviour for behaviour in behaviours}


OK_HEAD = b"HTTP/1.1 200 OK\r\n"
ANSWER = OK_HEAD + b"Content-Length: 2\r\n\r\nok"
