"""Reads a process's output from the event loop, at a bounded rate."""

import asyncio
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress

from probelet.base import open_files

WIDE_BYTES = 1024 * 1024
"""Size of a wide pipe: the largest that an unprivileged process can make."""

DRAIN_BYTES_MAX = WIDE_BYTES
"""Limit of reads after the writer exited."""

_DISCARDED = memoryview(bytearray(WIDE_BYTES))
"""The buffer into which wide pipes are read: nobody keeps it."""


class PipeReader:
    """Owns the reading end of a pipe; passes its bytes to ``take`` until the end or ``close``. The bytes are only valid
    during that call.

    ``take`` returns the seconds until the next read. During that time the pipe fills and the writer blocks: endless
    output slows down its own process and nothing else.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, take: Callable[[bytes | memoryview], float], bytes_per_read: int
    ) -> None:
        self._loop = loop
        self._take = take
        self._bytes_per_read = bytes_per_read
        self._pause: asyncio.TimerHandle | None = None
        self._is_wide = False
        reading_end, self.writing_end = os.pipe()
        # A container keeps three descriptors of this process, and a node has many containers.
        self._fd = open_files.aside(reading_end)
        os.set_blocking(self._fd, False)

    def start(self) -> None:
        """Starts reading. Call it once the process has its copy of the writing end; this closes ours."""
        self._close_writing_end()
        self._loop.add_reader(self._fd, self._readable)

    def widen(self) -> None:
        """Makes the pipe as large as it may be, so that each read takes more. Call it when the bytes are of no use any
        more: they all go to one place in memory."""
        self._is_wide = True
        # A user may have used up the kernel's limit for pipes; then the reads stay as small as they are.
        with suppress(OSError):
            fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, WIDE_BYTES)

    def _read(self) -> bytes | memoryview | None:
        """Some bytes, b"" at the end, None if there are none yet."""
        try:
            if self._is_wide:
                return _DISCARDED[: os.readv(self._fd, [_DISCARDED])]
            return os.read(self._fd, self._bytes_per_read)
        except BlockingIOError:
            return None

    def _readable(self) -> None:
        data = self._read()
        if data is None:
            return
        self._loop.remove_reader(self._fd)
        if not data:
            self._close_fd()
            return
        self._pause = self._loop.call_later(self._take(data), self._resume)

    def _resume(self) -> None:
        self._pause = None
        self._loop.add_reader(self._fd, self._readable)

    def close(self) -> None:
        """Reads what the pipe still holds, without waiting for writers, and closes it. A second call does nothing."""
        self._close_writing_end()
        if self._fd < 0:
            return
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None
        else:
            self._loop.remove_reader(self._fd)
        taken = 0
        while taken < DRAIN_BYTES_MAX and (data := self._read()):
            taken += len(data)
            self._take(data)
        self._close_fd()

    def _close_writing_end(self) -> None:
        if self.writing_end >= 0:
            os.close(self.writing_end)
            self.writing_end = -1

    def _close_fd(self) -> None:
        os.close(self._fd)
        self._fd = -1
