"""Whether a process is still writing a file."""

import fcntl
import os
import signal
from contextlib import suppress
from pathlib import Path


def being_written(path: Path) -> bool:
    """Whether any process has the file open for writing, as far as the kernel can tell.

    The kernel refuses a read lease on such a file (man 2 fcntl). It also refuses a lease if this user does not own the
    file, and some file systems have no leases: the answer is no then.
    """
    try:
        # Without O_NONBLOCK a pipe that has taken the file's place would block here.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # A process that opens the file while this one has the lease makes the kernel send a signal. The default signal
        # would end this process.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        with suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        os.close(fd)
    return False
