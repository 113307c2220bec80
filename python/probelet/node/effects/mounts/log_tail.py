"""The end of a container's log, as the kubelet takes it for a termination message.

Kubelet kuberuntime_container.go:readLastStringFromContainerLogs and cri-client pkg/logs/logs.go, 1.36.
"""

import os
from typing import Final

from probelet.base.logs.record import RecordReader

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
    pieces = RecordReader().pieces(b"\n".join(lines[-LINES_MAX - 1 :]))
    return b"".join(piece.text for piece in pieces)[-BYTES_MAX:]
