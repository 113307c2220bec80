"""Finds the pods for which another pod, or another program of the machine, answers.

Every pod has a loopback address of its own, but a listener on a wildcard address (0.0.0.0, or :: for both families)
has its port on all of them. Linux gives a connection to a listener on the exact address first, then to one on 0.0.0.0,
then to one on :: (net/ipv4/inet_hashtables.c:compute_score, 6.12). So a pod's port is foreign if nothing listens on
the pod's own address there, and no listener on the wildcard address belongs to the pod.

In doubt a port is the pod's own: if a process of the pod does not show its descriptors (another user's), or if the
listener's process cannot be related to a container.
"""

import os
import time
from collections.abc import Collection, Mapping
from ipaddress import IPv4Address
from pathlib import Path

import msgspec

from probelet.runtime.embedded.child import process_tree
from probelet.runtime.embedded.child.process_tree import Process
from probelet.runtime.embedded.listening.holders import UNKNOWN, containers_of, holders
from probelet.runtime.embedded.listening.report import ForeignListener
from probelet.runtime.embedded.listening.sockets import Listener, LookTooLong, listeners

LOOK_SECONDS = 1.0
"""Limit of one look in processor time, because a busy machine is no reason to give up. With 20,000 listening sockets a
look takes 0.1 s, and 0.2 s if one of them may be foreign (measured on two busy cores)."""

NAMING_SECONDS = 0.2
"""Limit, in processor time, of the search for a program outside of the pods, which only gives the message a name."""

Target = tuple[str, int]
"""A pod's address and a port that is probed there."""


class Member(msgspec.Struct, frozen=True):
    """A running container, as a look needs it. ``pod`` is ``namespace/name``."""

    container_id: str
    sandbox_id: str
    pod: str
    name: str


class Scene(msgspec.Struct, frozen=True):
    """The subject of a look at the machine. ``probed`` has the sandbox of every target, ``members`` each container by
    its first process."""

    probed: Mapping[Target, str]
    members: Mapping[int, Member]


def look(scene: Scene) -> dict[str, ForeignListener]:
    """The foreign listener of each target that has one, by ``address:port``. Raises LookTooLong."""
    deadline = time.thread_time() + LOOK_SECONDS
    suspects = _suspects(scene.probed, deadline)
    if suspects:
        # The kernel makes the list in pieces and may leave out a socket when others close: only both lists convict.
        again = _suspects({target: scene.probed[target] for target in suspects}, deadline)
        suspects = {target: found for target, found in again.items() if target in suspects}
    if not suspects:
        return {}
    inodes = {listener.inode for found in suspects.values() for listener in found}
    table = process_tree.processes()
    owners = containers_of(table, os.getpid(), {pid: member.container_id for pid, member in scene.members.items()})
    held, unreadable = holders(owners, inodes, deadline)
    foreign = convicted(scene, suspects, owners, held, unreadable)
    outside = _outside(table, owners, inodes - held.keys()) if foreign else {}
    members = {member.container_id: member for member in scene.members.values()}
    return {
        f"{address}:{port}": _row(suspects[address, port], held | outside, owners, members) for address, port in foreign
    }


def convicted(
    scene: Scene,
    suspects: Mapping[Target, list[Listener]],
    owners: Mapping[int, str],
    held: Mapping[int, int],
    unreadable: Collection[int],
) -> list[Target]:
    """The targets whose listeners are not their own pod's.

    ``owners`` has the container's ID of each process below the runtime, ``held`` the process of each inode that one of
    these holds; ``unreadable`` has the processes that do not show what they hold.
    """
    sandboxes = {member.container_id: member.sandbox_id for member in scene.members.values()}
    hidden = {sandboxes.get(owners[pid]) for pid in unreadable}
    foreign = []
    for target, found in suspects.items():
        own = scene.probed[target]
        of = [sandboxes.get(owners[held[listener.inode]]) for listener in found if listener.inode in held]
        may_be_hidden = len(of) < len(found) and not hidden.isdisjoint({own, None})
        if own not in of and None not in of and not may_be_hidden:
            foreign.append(target)
    return foreign


def _suspects(probed: Mapping[Target, str], deadline: float) -> dict[Target, list[Listener]]:
    """The targets without a listener on their own address, each with the listeners that answer in its place."""
    ports = {port for _, port in probed}
    by_place: dict[tuple[str, int], list[Listener]] = {}
    for listener in listeners(ports, deadline) if ports else ():
        by_place.setdefault((str(listener.address), listener.port), []).append(listener)
    suspects = {}
    for address, port in probed:
        at_all = by_place.get(("0.0.0.0", port)) or by_place.get(("::", port))
        if at_all and (str(IPv4Address(address)), port) not in by_place:
            suspects[address, port] = at_all
    return suspects


def _outside(table: Mapping[int, Process], owners: Mapping[int, str], inodes: set[int]) -> dict[int, int]:
    """The process outside of the pods that holds each of ``inodes``, as far as it is found in time."""
    if not inodes:
        return {}
    found: dict[int, int] = {}
    deadline = time.thread_time() + NAMING_SECONDS
    for pid in table:
        if pid in owners:
            continue
        try:
            found = holders([pid], inodes, deadline)[0] | found
        except LookTooLong:
            break
        if len(found) == len(inodes) or time.thread_time() > deadline:
            break
    return found


def _row(
    found: list[Listener], held: Mapping[int, int], owners: Mapping[int, str], members: Mapping[str, Member]
) -> ForeignListener:
    # Several listeners share a port with SO_REUSEPORT; one that has a name says most.
    listener = min(found, key=lambda one: one.inode not in held)
    pid = held.get(listener.inode, 0)
    member = members.get(owners.get(pid, UNKNOWN))
    pod, container = ("", "") if member is None else (member.pod, member.name)
    return ForeignListener(str(listener), pod, container, pid, _program(pid))


def _program(pid: int) -> str:
    """The name of a process, 15 bytes at most; empty if it is gone."""
    if not pid:
        return ""
    try:
        return Path(f"/proc/{pid}/comm").read_bytes().rstrip(b"\n").decode(errors="replace")
    except OSError:
        return ""
