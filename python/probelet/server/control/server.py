"""The control socket: the command line's verbs find, ask and command the running service through it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from aiohttp import web

from probelet.base.files.unix_socket import bind_socket, peer_of, trusted_uids
from probelet.server.acceptor import Acceptor, Room
from probelet.server.answering import Answering
from probelet.server.control.command import PAUSE_SECONDS_MAX, Commands, NoSuchPodError, RefusedError
from probelet.server.control.state_dir import opened, socket_path
from probelet.server.document.event import CommandDocument, PauseDocument, RecordedEvent
from probelet.server.document.incident import IncidentChange, NumberedChange
from probelet.server.limit import ANSWER_SECONDS, CONTROL_CONNECTIONS_MAX, IDLE_SECONDS
from probelet.server.query import history_asked
from probelet.server.refusals import LibraryLog, Refusals
from probelet.server.status import StatusBuilds
from probelet.server.view import View
from probelet.spec.model.probe import PROBE_TYPES

# How often a follower gets new events: a person sees no delay, and asking the view is cheap.
FOLLOW_SECONDS = 0.2
# Each follower costs a task and a connection; more than these come from a script that forgot to stop.
FOLLOWERS_MAX = 32
# Shutdown waits at most this long for a follower that has stopped reading.
SHUTDOWN_SECONDS = 1.0
# Connections that wait in the kernel for the loop: command lines of one user.
BACKLOG = 64


@web.middleware
async def _of_trusted_users(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Answers only root and this user: a descriptor of the socket may have been passed on to another user's process."""
    peer = request.get_extra_info("socket")
    if peer is None or peer_of(peer).uid not in trusted_uids():
        return web.Response(status=403, text="the control socket answers its user and root only")
    return await handler(request)


class ControlServer:
    """Serves HTTP on the 0600 unix socket of a locked state directory.

    ``GET /status[?history=N]``, ``GET /events?since=N[&follow=1]``, ``GET /incidents[?follow=1]`` and
    ``GET /logs?pod=NAME``; ``POST /retry``, ``POST /reset`` and ``POST /pause`` with ``pod=NAME`` and an optional
    ``container=NAME`` in the query; the last one also takes ``probe=TYPE`` and ``seconds=N``.

    ``followers`` is the number of connections that follow events or incidents now.
    """

    def __init__(
        self, view: View, commands: Commands, state_dir: Path, connections: int = CONTROL_CONNECTIONS_MAX
    ) -> None:
        self.path = socket_path(state_dir)
        self._view = view
        self._commands = commands
        self.followers = 0
        self._closing = asyncio.Event()
        self._connections = connections
        self._status_json = StatusBuilds(view.status)
        self._refusals = Refusals("control")
        self._answering = Answering(endless=("/events", "/incidents"))
        self._acceptor: Acceptor | None = None
        app = web.Application(middlewares=[_of_trusted_users, self._answering.answer])
        app.add_routes(
            [
                web.get("/status", self._status),
                web.get("/events", self._events),
                web.get("/incidents", self._incidents),
                web.get("/logs", self._logs),
                web.post("/retry", self._retry),
                web.post("/reset", self._reset),
                web.post("/pause", self._pause),
            ]
        )
        self._runner = web.AppRunner(
            app,
            access_log=None,
            shutdown_timeout=SHUTDOWN_SECONDS,
            keepalive_timeout=IDLE_SECONDS,
            lingering_time=0,
            logger=LibraryLog(self._refusals),
        )

    async def start(self) -> None:
        with opened(self.path.parent) as directory:
            sock = bind_socket(socket_path(directory))
        sock.listen(BACKLOG)
        sock.setblocking(False)
        await self._runner.setup()
        assert self._runner.server is not None, "setup makes the server"
        # All callers are this user or root, so none has a share of its own.
        room = Room(self._connections, self._connections)
        self._acceptor = Acceptor(sock, room, self._runner.server, self._refusals)
        self._answering.acceptor = self._acceptor
        self._acceptor.start()

    async def close(self) -> None:
        """Ends every follower, then stops. ``locked_state_dir`` removes the socket's file."""
        self._closing.set()
        if self._acceptor is not None:
            self._acceptor.close()
        await self._runner.cleanup()
        if self._acceptor is not None:
            self._acceptor.abort()

    async def _status(self, request: web.Request) -> web.Response:
        body = await self._status_json.get(history_asked(request))
        return web.Response(body=body, content_type="application/json")

    async def _logs(self, request: web.Request) -> web.Response:
        try:
            document = self._commands.logs(request.query.get("pod", ""))
        except NoSuchPodError as error:
            return web.Response(status=404, text=str(error))
        return web.Response(body=msgspec.json.encode(document), content_type="application/json")

    async def _retry(self, request: web.Request) -> web.Response:
        return self._command(request, self._commands.retry, "probelet-retry/1")

    async def _reset(self, request: web.Request) -> web.Response:
        return self._command(request, self._commands.reset, "probelet-reset/1")

    async def _pause(self, request: web.Request) -> web.Response:
        pod, probe_type, text = (request.query.get(key, "") for key in ("pod", "probe", "seconds"))
        seconds = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
        if not 0 <= seconds <= PAUSE_SECONDS_MAX or probe_type not in ("", *PROBE_TYPES):
            allowed = f"seconds from 0 to {PAUSE_SECONDS_MAX}, and probe one of {', '.join(PROBE_TYPES)}"
            return web.Response(status=400, text=f"want {allowed}")
        kind = next((known for known in PROBE_TYPES if known == probe_type), None)
        try:
            probes = await self._commands.pause(pod, request.query.get("container"), kind, seconds)
        except NoSuchPodError as error:
            return web.Response(status=404, text=str(error))
        except RefusedError as error:
            return web.Response(status=409, text=str(error))
        document: PauseDocument = {"schema": "probelet-pause/1", "pod": pod, "probes": probes}
        return web.Response(body=msgspec.json.encode(document), content_type="application/json")

    def _command(
        self,
        request: web.Request,
        act: Callable[[str, str | None], list[str]],
        schema: Literal["probelet-retry/1", "probelet-reset/1"],
    ) -> web.Response:
        pod = request.query.get("pod", "")
        try:
            found = act(pod, request.query.get("container"))
        except NoSuchPodError as error:
            return web.Response(status=404, text=str(error))
        except RefusedError as error:
            return web.Response(status=409, text=str(error))
        document: CommandDocument = {"schema": schema, "pod": pod, "containers": found}
        return web.Response(body=msgspec.json.encode(document), content_type="application/json")

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Sends one JSON object per line with its ``seq``; with ``follow=1`` until the client or the server closes."""
        since_text = request.query.get("since", "0")
        if not (since_text.isascii() and since_text.isdigit()):
            return web.Response(status=400, text="since must be a number from 0")
        since = int(since_text)
        if request.query.get("follow") != "1":
            lines = [msgspec.json.encode(event) + b"\n" for event in self._view.events(since)]
            return web.Response(body=b"".join(lines), content_type="application/x-ndjson")
        return await self._followed(request, [], since, self._view.events)

    async def _incidents(self, request: web.Request) -> web.StreamResponse:
        """Sends the document of the incidents; with ``follow=1`` a line for each open incident and then for each
        change, until the client or the server closes."""
        feed = self._view.incidents
        if feed is None or not feed.is_on:
            return web.Response(status=409, text="incidents are not looked for here: 'incidents: false', or 'serve'")
        document = feed.document()
        if request.query.get("follow") != "1":
            return web.Response(body=msgspec.json.encode(document), content_type="application/json")
        first = [
            IncidentChange(schema="probelet-incident/1", at=document["as_of"], change="open", incident=each)
            for each in document["open"]
        ]
        return await self._followed(request, first, feed.last_change, feed.changes)

    async def _followed(
        self,
        request: web.Request,
        first: Sequence[Mapping[str, Any]],
        since: int,
        source: Callable[[int], Sequence[RecordedEvent] | Sequence[NumberedChange]],
    ) -> web.StreamResponse:
        if self.followers >= FOLLOWERS_MAX:
            return web.Response(status=503, text=f"{FOLLOWERS_MAX} followers are connected already")
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        self.followers += 1
        try:
            await response.prepare(request)
            for line in first:
                await self._send(response, line)
            await self._follow(response, since, source)
        except (ConnectionError, TimeoutError):
            # The follower closed the connection or does not read, so there is no client to report to.
            response.force_close()
            return response
        finally:
            self.followers -= 1
        return response

    async def _send(self, response: web.StreamResponse, line: Mapping[str, Any]) -> None:
        # A follower that does not read would keep its connection for ever.
        async with asyncio.timeout(ANSWER_SECONDS):
            await response.write(msgspec.json.encode(line) + b"\n")

    async def _follow(
        self,
        response: web.StreamResponse,
        since: int,
        source: Callable[[int], Sequence[RecordedEvent] | Sequence[NumberedChange]],
    ) -> None:
        while True:
            last = self._closing.is_set()
            for line in source(since):
                since = line["seq"]
                await self._send(response, line)
            if last:
                return
            try:
                async with asyncio.timeout(FOLLOW_SECONDS):
                    await self._closing.wait()
            except TimeoutError:
                continue
