"""The guard: the parent of the runtime process; it ends the containers if the runtime cannot."""

import logging
import os
import select
import signal
import sys
from pathlib import Path

from probelet.base.logs.rotation import LogLimits
from probelet.runtime.embedded import server
from probelet.runtime.embedded.child import process_tree
from probelet.runtime.embedded.isolation.bridge import make_bridge, remove_bridge
from probelet.runtime.embedded.isolation.ip_command import IsolationError
from probelet.runtime.embedded.root import Root, RootError
from probelet.runtime.embedded.server import Settings, tell_owner

RUNTIME_EXIT_SECONDS = 0.7
"""Time for the runtime to end its containers and itself; then the guard kills, still within the promised second."""

KILL_SECONDS = 2.0
"""Time to kill the runtime's remaining descendants; only unkillable processes need this long."""

RUNTIME_DIED_EXIT_CODE = 1
UNUSABLE_EXIT_CODE = 2

logger = logging.getLogger(__name__)


def run(
    socket: Path, root_path: Path, log_limits: LogLimits, owner_fd: int | None, *, isolate: bool, has_users: bool
) -> int:
    """Claims the root, runs the runtime in a child, and kills every process once the child or the owner has ended."""
    logging.basicConfig(format="probelet embedded runtime: %(message)s", stream=sys.stderr)
    try:
        root = Root(root_path, socket)
    except RootError as error:
        tell_owner(owner_fd, error=str(error))
        return UNUSABLE_EXIT_CODE
    try:
        # Of a runtime on this root that was killed.
        remove_bridge(root_path)
        bridge = make_bridge(root_path) if isolate else None
    except IsolationError as error:
        root.remove()
        tell_owner(owner_fd, error=str(error))
        return UNUSABLE_EXIT_CODE
    process_tree.become_subreaper()
    stop_reading, stop_writing = os.pipe()
    life_reading, life_writing = os.pipe()
    runtime = os.fork()
    if runtime == 0:
        os.close(life_writing)
        _be_the_runtime(root, Settings(socket, root.path, log_limits, bridge, has_users), life_reading, owner_fd)
    os.close(life_reading)
    os.set_blocking(stop_writing, False)
    signal.set_wakeup_fd(stop_writing)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    exit_code = _watch(runtime, stop_reading, life_writing, owner_fd)
    process_tree.kill_descendants(KILL_SECONDS)
    _clean_up(root)
    return exit_code


def _clean_up(root: Root) -> None:
    try:
        remove_bridge(root.path)
    except IsolationError as error:
        logger.error("%s", error)
    root.remove()


def _be_the_runtime(root: Root, settings: Settings, life_reading: int, owner_fd: int | None) -> None:
    lifelines = [life_reading] if owner_fd is None else [life_reading, owner_fd]
    exit_code = UNUSABLE_EXIT_CODE
    try:
        exit_code = server.run(settings, lifelines, owner_fd)
        # The last process removes the root; if the guard has ended, that is this one.
        if not _writer_lives(life_reading):
            _clean_up(root)
    finally:
        logging.shutdown()
        # A forked child must not run its parent's exit handlers.
        os._exit(exit_code)


def _watch(runtime: int, stop_reading: int, life_writing: int, owner_fd: int | None) -> int:
    """Waits until the owner or the runtime ends, then for the runtime's end; returns the guard's exit code."""
    pidfd = os.pidfd_open(runtime)
    waiting = select.poll()
    for fd in (pidfd, stop_reading) if owner_fd is None else (pidfd, stop_reading, owner_fd):
        waiting.register(fd, select.POLLIN)
    gone = {fd for fd, _ in waiting.poll()}
    os.close(life_writing)
    ended = select.poll()
    ended.register(pidfd, select.POLLIN)
    if not ended.poll(RUNTIME_EXIT_SECONDS * 1000):
        logger.error("did not stop in time and is killed")
        os.kill(runtime, signal.SIGKILL)
    _, status = os.waitpid(runtime, 0)
    os.close(pidfd)
    # The runtime watches its owner too. If the guard looks late, it finds both gone, and that is an ordinary end.
    if gone == {pidfd}:
        exit_code = os.waitstatus_to_exitcode(status)
        if exit_code != UNUSABLE_EXIT_CODE:
            logger.error("ended unexpectedly (exit code %d); its containers are killed", exit_code)
            return RUNTIME_DIED_EXIT_CODE
        return exit_code
    return 0


def _writer_lives(reading: int) -> bool:
    """True if the other end of the lifeline is still open."""
    ready = select.poll()
    ready.register(reading, select.POLLIN)
    return not ready.poll(0)
