"""A client's connection to the control socket. It asks nobody but a service of this user or of root: the directory, the
socket in it and the process behind that must be theirs. For root only root's will do.
"""

import http.client
import os
import socket
import stat
import time
from pathlib import Path
from typing import Any

from probelet.base.files.trusted_directory import UntrustedError
from probelet.base.files.unix_socket import peer_of, trusted_uids
from probelet.server.control.state_dir import opened, socket_path
from probelet.server.error import UntrustedServiceError


def deadline_after(seconds: float | None) -> float | None:
    """The moment ``seconds`` from now on the monotonic clock; None for no limit."""
    return None if seconds is None else time.monotonic() + seconds


class _DeadlineSocket(socket.socket):
    """A socket whose reads together end at ``deadline``: a time limit per read lasts for ever if bytes drip in."""

    deadline: float | None = None

    def recv_into(self, *arguments: Any) -> int:
        if self.deadline is not None:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.settimeout(left)
        else:
            self.settimeout(None)
        return super().recv_into(*arguments)


class ControlConnection(http.client.HTTPConnection):
    """HTTP to the service of ``state_dir``. Connecting raises UntrustedServiceError if it may be another user's."""

    def __init__(self, state_dir: Path, deadline: float | None) -> None:
        super().__init__("probelet")
        self._state_dir = state_dir
        self._deadline = deadline
        self._socket: _DeadlineSocket | None = None

    def connect(self) -> None:
        self._socket = self.sock = _DeadlineSocket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.set_deadline(self._deadline)
        if self._deadline is not None:
            self._socket.settimeout(max(self._deadline - time.monotonic(), 0.001))
        try:
            with opened(self._state_dir) as directory:
                _require_ours(self._state_dir, directory.stat())
                path = socket_path(directory)
                found = os.lstat(path)
                if not stat.S_ISSOCK(found.st_mode):
                    raise UntrustedServiceError(f"{socket_path(self._state_dir)} is not a socket")
                _require_ours(socket_path(self._state_dir), found)
                self._socket.connect(str(path))
        except UntrustedError as error:
            raise UntrustedServiceError(str(error)) from error
        peer = peer_of(self._socket)
        if peer.uid not in trusted_uids():
            path = socket_path(self._state_dir)
            raise UntrustedServiceError(f"{path}: process {peer.pid} of uid {peer.uid} answers there; it is not asked")

    def set_deadline(self, deadline: float | None) -> None:
        """The moment until which the answer is read; None for no limit."""
        if self._socket is not None:
            self._socket.deadline = deadline


def _require_ours(path: Path, found: os.stat_result) -> None:
    if found.st_uid not in trusted_uids():
        allowed = " or ".join(sorted({f"uid {os.getuid()}", "root"})) if os.getuid() else "root"
        raise UntrustedServiceError(f"{path} belongs to uid {found.st_uid}, not to {allowed}; nothing there is asked")
