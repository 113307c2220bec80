"""The guard: parent of the runtime process, alive to end whatever the runtime can no longer end itself."""

import logging
import os
import select
import signal
import sys
from pathlib import Path

from probelet.cri.process import process_tree, server
from probelet.cri.process.root import Root, RootError
from probelet.cri.process.server import tell_owner

RUNTIME_EXIT_SECONDS = 0.7
"""For the runtime to end its containers and itself; then the guard does it, still within the promised second."""

KILL_SECONDS = 2.0
"""For descendants the runtime left; only processes that nobody can kill need that long."""

RUNTIME_DIED_EXIT_CODE = 1
UNUSABLE_EXIT_CODE = 2

logger = logging.getLogger(__name__)


def run(socket: Path, root_path: Path, owner_fd: int | None) -> int:
    """Claim the root, run the runtime in a child, and leave nothing when either it or the owner is gone."""
    logging.basicConfig(format="probelet process runtime: %(message)s", stream=sys.stderr)
    try:
        root = Root(root_path, socket)
    except RootError as error:
        tell_owner(owner_fd, error=str(error))
        return UNUSABLE_EXIT_CODE
    process_tree.become_subreaper()
    stop_reading, stop_writing = os.pipe()
    life_reading, life_writing = os.pipe()
    runtime = os.fork()
    if runtime == 0:
        os.close(life_writing)
        _be_the_runtime(socket, root, life_reading, owner_fd)
    os.close(life_reading)
    os.set_blocking(stop_writing, False)
    signal.set_wakeup_fd(stop_writing)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    exit_code = _watch(runtime, stop_reading, life_writing, owner_fd)
    process_tree.kill_descendants(KILL_SECONDS)
    root.remove()
    return exit_code


def _be_the_runtime(socket: Path, root: Root, life_reading: int, owner_fd: int | None) -> None:
    lifelines = [life_reading] if owner_fd is None else [life_reading, owner_fd]
    exit_code = UNUSABLE_EXIT_CODE
    try:
        exit_code = server.run(socket, root.path, lifelines, owner_fd)
        # Whoever comes last removes the root; with the guard gone, that is this process.
        if not _writer_lives(life_reading):
            root.remove()
    finally:
        logging.shutdown()
        # A forked child must not run what its parent registered for its own exit.
        os._exit(exit_code)


def _watch(runtime: int, stop_reading: int, life_writing: int, owner_fd: int | None) -> int:
    """Wait for the first to go, then for the runtime's end; returns the guard's exit code."""
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
    if pidfd in gone:
        exit_code = os.waitstatus_to_exitcode(status)
        if exit_code != UNUSABLE_EXIT_CODE:
            logger.error("ended unexpectedly (exit code %d); its containers are killed", exit_code)
            return RUNTIME_DIED_EXIT_CODE
        return exit_code
    return 0


def _writer_lives(reading: int) -> bool:
    """Whether the other end of the lifeline is still held."""
    ready = select.poll()
    ready.register(reading, select.POLLIN)
    return not ready.poll(0)
