"""The runtime process: serves the RPCs until one of its lifelines ends, then kills every container."""

import asyncio
import json
import logging
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from probelet.cri import grpc_channel as wire
from probelet.cri.process import process_tree
from probelet.cri.process.host import Host
from probelet.cri.process.runtime import ProcessRuntime

KILL_SECONDS = 0.5
"""For the death of every process when the owner is gone; half of the second that is promised."""

logger = logging.getLogger(__name__)


def tell_owner(owner_fd: int | None, **news: str) -> None:
    """One line of JSON to the owner, who may have gone: ``{"ready": endpoint}`` or ``{"error": line}``."""
    if owner_fd is None:
        sys.stderr.write(f"probelet process runtime: {next(iter(news.values()))}\n")
        return
    try:
        os.write(owner_fd, json.dumps(news).encode() + b"\n")
    except OSError as error:
        logger.info("the owner does not listen: %s", error.strerror)


def run(socket: Path, root: Path, lifelines: Sequence[int], owner_fd: int | None) -> int:
    """Serve until a lifeline ends or SIGTERM; returns the exit code."""
    process_tree.become_subreaper()
    raise_file_limit()
    handle_ignored_signals()
    try:
        asyncio.run(_serve(socket, root, lifelines, owner_fd))
    except OSError as error:
        tell_owner(owner_fd, error=str(error))
        return 2
    return 0


def raise_file_limit() -> None:
    """Three files per container: the soft limit of 1024 that shells set is too low for a node."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def handle_ignored_signals() -> None:
    """What a shell in the background or nohup has ignored stays ignored here, and no container inherits it.

    A program that is started finds every signal as usual that was handled, if only by doing nothing. Python's own two
    are restored by subprocess.
    """
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


async def _serve(socket: Path, root: Path, lifelines: Sequence[int], owner_fd: int | None) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    host = Host(str(root))
    server = wire.Server(ProcessRuntime(host))
    await server.start(str(socket))
    for fd in lifelines:
        loop.add_reader(fd, ended.set)
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_signal_handler(signal.SIGINT, ended.set)
    tell_owner(owner_fd, ready=f"unix://{socket}")
    await ended.wait()
    for fd in lifelines:
        loop.remove_reader(fd)
    # In this order: nothing starts any more, then everything dies without a turn of the loop in between.
    host.close()
    left = process_tree.kill_descendants(KILL_SECONDS)
    if left:
        logger.error("cannot be killed: %s", ", ".join(str(row.pid) for row in left))
    await server.stop(0)
