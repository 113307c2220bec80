"""Files of pods that their containers get as mounts, below a root directory of the node's own.

``pods/UID/etc-hosts`` is a pod's hosts file. ``pods/UID/containers/NAME/RESTART_COUNT`` is the termination message of
one instance: from that name the next probelet finds the message without asking the runtime for a path, so no runtime
can have it read another file. (The kubelet's names are random.) Every name is reached by descriptor.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from probelet.base.files import below

PODS: Final = "pods"
CONTAINERS: Final = "containers"
HOSTS: Final = "etc-hosts"

log = structlog.get_logger("probelet.node")


class PodFiles:
    """The files below ``root``, which only this user and this group may enter, because everyone may write in some."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()

    def make_message_file(self, uid: str, container: str, restart_count: int) -> Path | None:
        """An empty file that every user of the container may write to (kubelet ``makeMounts``, 1.36).

        As in the kubelet, a container whose file cannot be made starts without one.
        """
        try:
            # A creation that failed may have left its file.
            below.remove_file(self._root, PODS, uid, CONTAINERS, container, str(restart_count))
            return self._write(b"", 0o666, uid, CONTAINERS, container, str(restart_count))
        except OSError as error:
            log.warning("no file for termination messages", root=str(self._root), container=container, error=str(error))
            return None

    def write_hosts_file(self, uid: str, content: Callable[[], bytes]) -> Path | None:
        """Writes the hosts file of a pod, which running containers of the pod may have as a mount.

        A container whose file cannot be made starts with the runtime's own.
        """
        try:
            return self._write(content(), 0o644, uid, HOSTS)
        except OSError as error:
            log.warning("no hosts file for a pod", root=str(self._root), uid=uid, error=str(error))
            return None

    def _write(self, content: bytes, mode: int, *names: str) -> Path:
        with below.directory(self._root, make=True) as root, suppress(FileExistsError):
            os.mkdir(PODS, 0o750, dir_fd=root)
        fd = below.open_to_replace(self._root, PODS, *names)
        try:
            os.write(fd, content)
            os.fchmod(fd, mode)
        finally:
            os.close(fd)
        return self._root.joinpath(PODS, *names)

    def end_of_message(self, uid: str, container: str, restart_count: int, bytes_max: int) -> bytes:
        """The last bytes that an instance has written; none without a file. Raises OSError."""
        try:
            fd = below.open_to_read(self._root, PODS, uid, CONTAINERS, container, str(restart_count))
        except FileNotFoundError:
            return b""
        try:
            size = os.fstat(fd).st_size
            return os.pread(fd, bytes_max, max(0, size - bytes_max))
        finally:
            os.close(fd)

    def remove_message_file(self, uid: str, container: str, restart_count: int) -> None:
        """Removes the file of an instance, if it has one."""
        with suppress(OSError):
            below.remove_file(self._root, PODS, uid, CONTAINERS, container, str(restart_count))

    def remove(self, uid: str) -> None:
        """Removes everything of a pod that is gone."""
        with suppress(OSError):
            below.remove_tree(self._root / PODS, uid)
