"""The end of a container's log, as the kubelet takes it for a termination message.

Kubelet kuberuntime_container.go:readLastStringFromContainerLogs and cri-client pkg/logs/logs.go, 1.36. A line of a log
is ``TIME STREAM TAG TEXT``; the tag of a part of a long line begins with ``P``.
"""

import os
from typing import Final

LINES_MAX: Final = 80
"""Lines of the log that count, parts of long lines among them (``MaxContainerTerminationMessageLogLines``)."""

BYTES_MAX: Final = 2 * 1024
"""Bytes of their text that count (``MaxContainerTerminationMessageLogLength``)."""

LINE_BYTES_MAX: Final = 17 * 1024
"""A line with its time and tag: runtimes cut text into parts of 16 KiB."""


def log_tail(fd: int) -> bytes:
    """The text of the last lines of an open log. Raises OSError."""
    size = os.fstat(fd).st_size
    begin = max(0, size - LINES_MAX * LINE_BYTES_MAX)
    # The file ends with a newline, so what follows the last one is empty, or a line that is being written.
    lines = os.pread(fd, size - begin, begin).split(b"\n")
    return b"".join(map(_text, lines[-LINES_MAX - 1 :]))[-BYTES_MAX:]


def _text(line: bytes) -> bytes:
    """The text of one line; nothing for a line of another format, as in the kubelet."""
    fields = line.split(b" ", 3)
    if len(fields) < 4:
        return b""
    _, _, tag, text = fields
    return text if tag.startswith(b"P") else text + b"\n"
