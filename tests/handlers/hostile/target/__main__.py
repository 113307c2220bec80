"""Listens on one port per behaviour, prints ``{"behaviour": port}`` and serves until its standard input ends."""

import asyncio
import contextlib
import json
import socket
import ssl
import sys

from probelet_conformance.handlers.server.certificate import OURS

from tests.handlers.hostile.target import cut, flood, h2, redirect, silence, tls, trickle
from tests.handlers.hostile.target.behaviour import Behaviour
from tests.handlers.hostile.target.connection import Connection

ADDRESS = "127.0.0.1"
# The head of a request may be as long as the redirect that it follows.
REQUEST_BYTES_MAX = 64 * 1024 * 1024
# All workers of a test may connect at once.
BACKLOG = 1024

BEHAVIOURS = {
    **cut.BEHAVIOURS,
    **flood.BEHAVIOURS,
    **redirect.BEHAVIOURS,
    **silence.BEHAVIOURS,
    **h2.BEHAVIOURS,
    **tls.BEHAVIOURS,
    **trickle.BEHAVIOURS,
}
# The behaviours that are also served over TLS, by the protocol that ALPN agrees on.
BEHIND_TLS = {
    "h2": h2.BEHAVIOURS,
    "http/1.1": {**cut.BEHAVIOURS, **flood.BEHAVIOURS, **silence.BEHAVIOURS, **trickle.BEHAVIOURS},
}


def context(protocol: str) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(OURS / "ecdsa.pem")
    made.set_alpn_protocols([protocol])
    return made


async def listen(behaviour: Behaviour, tls_context: ssl.SSLContext | None = None) -> asyncio.Server:
    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await behaviour(Connection(reader, writer))
        with contextlib.suppress(OSError):
            writer.close()
            await writer.wait_closed()

    return await asyncio.start_server(accepted, ADDRESS, 0, limit=REQUEST_BYTES_MAX, backlog=BACKLOG, ssl=tls_context)


async def main() -> None:
    servers = {name: await listen(behaviour) for name, behaviour in BEHAVIOURS.items()}
    for protocol, behaviours in BEHIND_TLS.items():
        secured = context(protocol)
        servers |= {f"https-{name}": await listen(behaviour, secured) for name, behaviour in behaviours.items()}
    sockets: dict[str, list[socket.socket]] = {name: make(ADDRESS) for name, make in silence.LISTENERS.items()}
    ports = {name: server.sockets[0].getsockname()[1] for name, server in servers.items()}
    ports |= {name: held[0].getsockname()[1] for name, held in sockets.items()}
    sys.stdout.write(json.dumps(ports) + "\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    # Exit without waiting for the connections: many of them have no end.
    sys.stdout.flush()
    raise SystemExit


if __name__ == "__main__":
    asyncio.run(main())
