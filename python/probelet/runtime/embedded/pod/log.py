"""Container logs in the CRI's format: ``<RFC 3339 time> <stdout|stderr> <F|P> <line>``.

F is a full line; P is part of a line: one longer than ``LINE_BYTES_MAX``, or a last line without its newline.
"""

import logging
import os
import time
from pathlib import Path
from typing import Literal, NamedTuple

from probelet.base import open_files
from probelet.base.files import below
from probelet.base.logs.rotation import LogLimits, excess, rotated_name, rotated_parts

LINE_BYTES_MAX = 16 * 1024
"""Longer lines are split into parts (containerd's max_container_log_line_size)."""

TAIL_BYTES_MAX = 2 * 1024
"""Bytes of the newest output kept in memory to explain an exit (kubelet MaxContainerTerminationMessageLogLength,
1.36)."""

TAIL_LINES_MAX = 80
"""Lines of the newest output kept in memory (MaxContainerTerminationMessageLogLines)."""

StreamName = Literal["stdout", "stderr"]

logger = logging.getLogger(__name__)


def timestamp(unix_ns: int) -> str:
    """RFC 3339 in UTC with nanoseconds."""
    seconds, fraction = divmod(unix_ns, 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{fraction:09d}Z"


class LogPath(NamedTuple):
    """The place of a log: the directory that the caller of the runtime chose, and the names below it."""

    root: Path
    names: tuple[str, ...]

    def __str__(self) -> str:
        return str(self.root.joinpath(*self.names))


class LineSplitter:
    """Converts the bytes of one stream to log records, each one line or part of at most ``LINE_BYTES_MAX``."""

    def __init__(self, stream: StreamName) -> None:
        self._stream = stream
        self._open = b""

    def records(self, data: bytes, unix_ns: int) -> bytes:
        """The records that ``data``, at most ``LINE_BYTES_MAX`` bytes, completes."""
        time_and_stream = f"{timestamp(unix_ns)} {self._stream} ".encode()
        full, part = time_and_stream + b"F ", time_and_stream + b"P "
        head, newline, rest = data.rpartition(b"\n")
        first_line = len(head.partition(b"\n")[0]) if newline else len(rest)
        out = b""
        if len(self._open) + first_line > LINE_BYTES_MAX:
            out = part + self._open + b"\n"
            self._open = b""
        if newline:
            # One timestamp for all lines of a read allows bytes.replace, which is faster than a Python loop.
            out += full + (self._open + head).replace(b"\n", b"\n" + full) + b"\n"
            self._open = rest
        else:
            self._open += rest
        return out

    def rest(self, unix_ns: int) -> bytes:
        """The record of a last line without its newline."""
        left, self._open = self._open, b""
        return f"{timestamp(unix_ns)} {self._stream} P ".encode() + left + b"\n" if left else b""


class ContainerLog:
    """The log file of one container, rotated as a kubelet does it, but before it is too large and not compressed.

    A full disk loses lines with one warning; it never stops the container.
    """

    def __init__(self, path: LogPath | None, limits: LogLimits) -> None:
        """Opens for appending, and makes the directories above; None keeps only the tail. Raises OSError."""
        self.path = path
        self._limits = limits
        self.tail = b""
        self._splitters = {name: LineSplitter(name) for name in ("stdout", "stderr")}
        self._warned = False
        self._size = 0
        self._file = -1
        if path is not None:
            self._open_file(path)

    def _open_file(self, path: LogPath) -> None:
        # A container may have put a link or a pipe in the place of its log.
        self._file = open_files.aside(below.open_to_append(path.root, *path.names))
        self._size = os.fstat(self._file).st_size

    def write(self, stream: StreamName, data: bytes) -> int:
        """Logs a container's output, ``LINE_BYTES_MAX`` per call at most; returns the bytes written to the log."""
        self.tail = (self.tail + data)[-TAIL_BYTES_MAX:]
        return self._append(self._splitters[stream].records(data, time.time_ns()))

    def _append(self, records: bytes) -> int:
        if not records or self.path is None:
            return 0
        try:
            if self._file < 0 or self._is_full(len(records)):
                self._rotate(self.path)
            self._size += os.write(self._file, records)
        except OSError as error:
            if not self._warned:
                self._warned = True
                logger.warning("log %s: lines are lost: %s", self.path, error.strerror)
        return len(records)

    def _is_full(self, more: int) -> bool:
        return self._limits.bytes_max is not None and self._size + more > self._limits.bytes_max

    def _rotate(self, path: LogPath) -> None:
        self._close_file()
        if self._size:
            *folders, name = path.names
            listed = below.names_in(path.root, *folders)
            parts, unfinished = rotated_parts(name, listed)
            for old in (*unfinished, *excess(parts, self._limits)):
                below.remove_file(path.root, *folders, old)
            # A container can fill several logs in a second.
            now = time.time_ns()
            to = f"{rotated_name(name, now)}.{now % 1_000_000_000:09d}"
            below.rename(path.root, *path.names, to=to)
        self._open_file(path)

    def _close_file(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def close(self) -> None:
        """Writes the rest of both streams and closes the file."""
        for splitter in self._splitters.values():
            self._append(splitter.rest(time.time_ns()))
        self._close_file()

    def last_lines(self) -> list[str]:
        """The newest lines, whole lines if possible, without empty lines at the end."""
        _, newline, rest = self.tail.partition(b"\n")
        whole = rest if len(self.tail) == TAIL_BYTES_MAX and newline and rest.strip() else self.tail
        return whole.decode(errors="replace").rstrip().splitlines()[-TAIL_LINES_MAX:]
