"""Which processes hold a socket, and which container a process belongs to."""

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress

from probelet.runtime.embedded.child import process_tree
from probelet.runtime.embedded.child.marks import CONTAINER_VARIABLE
from probelet.runtime.embedded.child.process_tree import Process
from probelet.runtime.embedded.listening.sockets import LookTooLong

UNKNOWN = ""
"""In place of a container's ID: a process below the runtime that has left its session and its environment."""


def containers_of(table: Mapping[int, Process], runtime: int, first: Mapping[int, str]) -> dict[int, str]:
    """The container's ID of every process below ``runtime``. ``first`` has the ID of each container's first process.

    A child of the runtime is a first process, the command of an exec run, or an orphan: a process whose parent has
    ended. The session or the mark in the environment tells to which container the last two belong.
    """
    children: dict[int, list[int]] = {}
    for row in table.values():
        children.setdefault(row.parent, []).append(row.pid)
    owners: dict[int, str] = {}
    for child in children.get(runtime, ()):
        owner = first.get(child) or first.get(table[child].session) or _marked(child)
        waiting = [child]
        while waiting:
            pid = waiting.pop()
            owners[pid] = owner
            waiting.extend(children.get(pid, ()))
    return owners


def _marked(pid: int) -> str:
    return process_tree.environment_of(pid).get(CONTAINER_VARIABLE, UNKNOWN.encode()).decode("ascii", "replace")


def sockets_of(pid: int, inodes: Collection[int], deadline: float) -> set[int] | None:
    """Those of ``inodes`` that a process holds; None if its descriptors are unreadable for us.

    Raises LookTooLong after ``deadline`` (``time.thread_time``).
    """
    wanted = {f"socket:[{inode}]": inode for inode in inodes}
    try:
        folder = os.open(f"/proc/{pid}/fd", os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return set()
    except OSError:
        return None
    try:
        return {wanted[link] for link in _links(folder, deadline) if link in wanted}
    except (FileNotFoundError, ProcessLookupError):
        # The process has ended since: its folder lists nothing, or does not exist any more.
        return set()
    except PermissionError:
        return None
    finally:
        os.close(folder)


def _links(folder: int, deadline: float) -> Iterator[str]:
    for number, name in enumerate(os.listdir(folder)):
        # A process closes descriptors meanwhile.
        with suppress(FileNotFoundError):
            yield os.readlink(name, dir_fd=folder)
        if number % 1024 == 0 and time.thread_time() > deadline:
            raise LookTooLong


def holders(pids: Iterable[int], inodes: Collection[int], deadline: float) -> tuple[dict[int, int], set[int]]:
    """One process of ``pids`` for each of ``inodes`` that any of them holds, and the processes that are unreadable.

    Raises LookTooLong after ``deadline`` (``time.thread_time``).
    """
    found: dict[int, int] = {}
    unreadable = set()
    for pid in pids:
        held = sockets_of(pid, inodes, deadline)
        if held is None:
            unreadable.add(pid)
            continue
        for inode in held:
            found.setdefault(inode, pid)
    return found, unreadable
