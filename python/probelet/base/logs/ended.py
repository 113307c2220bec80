"""Finds the logs of a pod that no service runs: in the folder of kept runs, or in a directory such as
``/var/log/pods``."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from probelet.base.files import below
from probelet.base.logs.layout import PodDirectory, log_directory_of, pod_of_directory, restart_counts
from probelet.base.logs.pod_logs import ContainerLogs, PodLogs, read_document

DESCRIPTION: Final = "pod.json"
"""The file in a pod's directory that names its containers in their order; only kept logs have it."""

_DESCRIPTION_BYTES_MAX: Final = 1024 * 1024


class Kept(NamedTuple):
    """The logs of one container below ``root``."""

    root: Path
    pod: PodDirectory
    container: str
    instances: int
    size: int
    modified: float
    """Unix seconds."""


def describe(root: Path, description: dict[str, Any]) -> None:
    """Writes what ``read_document`` needs into the directory of the pod's logs. Raises OSError."""
    directory = log_directory_of(description["namespace"], description["name"], description["uid"])
    fd = below.open_to_replace(root, directory, DESCRIPTION)
    try:
        os.write(fd, msgspec.json.encode(description))
    finally:
        os.close(fd)


def pods_in(root: Path) -> list[tuple[float, PodDirectory]]:
    """The pods that have logs below ``root``, newest first. Raises OSError if it cannot be listed."""
    found = []
    with below.directory(root) as folder, os.scandir(folder) as entries:
        for entry in entries:
            pod = pod_of_directory(entry.name)
            if pod is not None and entry.is_dir(follow_symlinks=False):
                found.append((entry.stat(follow_symlinks=False).st_mtime, pod))
    return sorted(found, reverse=True)


def find(root: Path, name: str) -> list[PodLogs]:
    """The pods with that NAME or NAMESPACE/NAME below ``root``, the newest of each namespace. Raises OSError."""
    found: dict[str, PodLogs] = {}
    for _, pod in pods_in(root):
        if name in (pod.name, pod.full_name) and pod.full_name not in found:
            found[pod.full_name] = _read(root, pod)
    return list(found.values())


def kept(root: Path) -> Iterator[Kept]:
    """The logs of each container below ``root``. Raises OSError."""
    for _, pod in pods_in(root):
        for container in _read(root, pod).containers:
            names = log_directory_of(*pod), container.name
            counts = restart_counts(below.names_in(root, *names))
            if counts:
                with below.directory(root, *names) as folder, os.scandir(folder) as entries:
                    stats = [entry.stat(follow_symlinks=False) for entry in entries]
                size, modified = sum(it.st_size for it in stats), max(it.st_mtime for it in stats)
                yield Kept(root, pod, container.name, len(counts), size, modified)


def _read(root: Path, pod: PodDirectory) -> PodLogs:
    """The pod's containers in the order of the description, then the ones that only have a directory."""
    directory = log_directory_of(*pod)
    described = _description(root, directory)
    names = sorted(name for name in below.names_in(root, directory) if name != DESCRIPTION)
    known = {container.name for container in described.containers} if described else set()
    listed = described.containers if described else ()
    return PodLogs(
        root=root,
        pod=pod,
        containers=(
            *listed,
            *(ContainerLogs(name) for name in names if name not in known),
        ),
        default_container=described.default_container if described else "",
    )


def _description(root: Path, directory: str) -> PodLogs | None:
    try:
        fd = below.open_to_read(root, directory, DESCRIPTION)
        try:
            data = os.read(fd, _DESCRIPTION_BYTES_MAX)
        finally:
            os.close(fd)
        return read_document(msgspec.json.decode(data, type=dict) | {"root": str(root)})
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError, ValueError):
        # A container may have put anything there; the directories alone name the containers as well.
        return None
