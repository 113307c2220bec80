"""Whether somebody is still writing a file."""

import fcntl
import os
import signal
from contextlib import suppress
from pathlib import Path


def being_written(path: Path) -> bool:
    """Whether any process has the file open for writing, as far as the kernel tells us.

    It refuses a read lease then (man 2 fcntl). It also refuses one to who does not own the file, and some file systems
    know no leases: those answer no.
    """
    try:
        # Without O_NONBLOCK a pipe that has taken the file's place would keep us here.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Whoever opens the file in the moment in which we have the lease makes the kernel signal us. The signal it
        # would choose ends a process.
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
