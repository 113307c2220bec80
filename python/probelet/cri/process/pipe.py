"""Reading a process's output from the event loop, no faster than we can afford."""

import asyncio
import os
from collections.abc import Callable

DRAIN_BYTES_MAX = 1024 * 1024
"""What is read at most after the writer has exited: the largest pipe an unprivileged process can make."""


class PipeReader:
    """Owns the reading end of a pipe and hands its bytes to ``take`` until the end, or until closed.

    ``take`` returns how many seconds to wait before the next read. While we wait the pipe fills and the writer
    blocks: a process that writes without end is slowed down instead of starving everybody else.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, take: Callable[[bytes], float], bytes_per_read: int) -> None:
        self._loop = loop
        self._take = take
        self._bytes_per_read = bytes_per_read
        self._pause: asyncio.TimerHandle | None = None
        self._fd, self.writing_end = os.pipe()
        os.set_blocking(self._fd, False)

    def start(self) -> None:
        """Begin to read, once the process has its own copy of the writing end; ours is closed."""
        self._close_writing_end()
        self._loop.add_reader(self._fd, self._readable)

    def _read(self) -> bytes | None:
        """Some bytes, b"" at the end, None when there is nothing right now."""
        try:
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
        """Take what the pipe still holds, without waiting for writers, and close it. Closing twice is fine."""
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
