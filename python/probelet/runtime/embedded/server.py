"""The runtime process: serves the RPCs until one of its lifelines ends, then kills every container."""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from probelet.base.logs.rotation import LogLimits
from probelet.runtime.cri import grpc_channel
from probelet.runtime.embedded.child import process_tree
from probelet.runtime.embedded.host import Host
from probelet.runtime.embedded.isolation.bridge import Bridge
from probelet.runtime.embedded.isolation.namespaces import NamespaceNetworks
from probelet.runtime.embedded.pod.network import LoopbackNetworks
from probelet.runtime.embedded.runtime import ProcessRuntime

KILL_SECONDS = 0.5
"""Time for every process to die after the owner's end; half of the promised second."""

logger = logging.getLogger(__name__)


class Settings(msgspec.Struct, frozen=True):
    """How a runtime serves: at ``socket``, with a claimed ``root``. With a ``bridge`` each pod has a network namespace
    on it. ``has_users``: a container runs as the user that its configuration names."""

    socket: Path
    root: Path
    log_limits: LogLimits
    bridge: Bridge | None
    has_users: bool


def tell_owner(owner_fd: int | None, **news: str) -> None:
    """Sends one line of JSON to the owner: ``{"ready": endpoint}`` or ``{"error": line}``. The owner may be gone."""
    if owner_fd is None:
        sys.stderr.write(f"probelet embedded runtime: {next(iter(news.values()))}\n")
        return
    try:
        os.write(owner_fd, json.dumps(news).encode() + b"\n")
    except OSError as error:
        logger.info("cannot reach the owner: %s", error.strerror)


def run(settings: Settings, lifelines: Sequence[int], owner_fd: int | None) -> int:
    """Serves until a lifeline ends or SIGTERM arrives; returns the exit code."""
    process_tree.become_subreaper()
    handle_ignored_signals()
    try:
        asyncio.run(_serve(settings, lifelines, owner_fd))
    except OSError as error:
        tell_owner(owner_fd, error=str(error))
        return 2
    return 0


def handle_ignored_signals() -> None:
    """Handles the signals that a background shell or nohup set to ignored, so that no container inherits that.

    A program starts with the default action for every signal that its parent handled, even by doing nothing. Python's
    own two ignored signals are restored by subprocess.
    """
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


async def _serve(settings: Settings, lifelines: Sequence[int], owner_fd: int | None) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    host = Host(str(settings.root), settings.log_limits, has_users=settings.has_users)
    bridge = settings.bridge
    networks = LoopbackNetworks(host.root) if bridge is None else NamespaceNetworks(host, bridge)
    server = grpc_channel.Server(ProcessRuntime(host, networks))
    await server.start(str(settings.socket))
    for fd in lifelines:
        loop.add_reader(fd, ended.set)
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_signal_handler(signal.SIGINT, ended.set)
    tell_owner(owner_fd, ready=f"unix://{settings.socket}")
    await ended.wait()
    for fd in lifelines:
        loop.remove_reader(fd)
    # In this order: first forbid starts, then kill everything before the loop runs again.
    host.close()
    left = process_tree.kill_descendants(KILL_SECONDS)
    if left:
        logger.error("cannot be killed: %s", ", ".join(str(row.pid) for row in left))
    await server.stop(0)
