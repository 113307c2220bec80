"""The parent of ``probelet agent --supervise``: starts the agent again when it has died.

In a container the kubelet starts a program that died again only after its back-off, which grows to five minutes, and so
long nobody probes the pods of the node. This parent starts it again at once.

An interpreter of its own runs this file, by path and without site-packages, so that it imports nothing but the four
modules below: 4 MiB stay of it beside the agent. It has one thread and waits for signals, so nothing interrupts it.
"""

import os
import signal
import sys
import time

LONGEST_SECONDS = 10
"""The wait before a start: 0, 1, 2, 4, 8, 10, 10 ... seconds while the agent keeps dying."""

GOOD_LIFE_SECONDS = 60
"""An agent that lived so long is no longer one that keeps dying."""

ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that ask the agent to end; it gets each of them. The first is the kubelet's."""

FINAL_CODES = (0, 2)
"""The agent has done its work (``--duration``), or its command line or configuration has a mistake."""

CANNOT_RUN = 126
"""The exit code of a process that could not become the agent."""

PR_SET_PDEATHSIG = 1
"""linux/prctl.h"""


def supervise(log_format: str, command: list[str]) -> int:
    """Runs the command until it ends for good; returns the exit code for this process."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {*ENDS, signal.SIGCHLD})
    # The process that started this one may have ignored it, and then the kernel would keep no status.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    deaths = 0
    while True:
        began = time.monotonic()
        status, is_asked = wait(start(command))
        code = os.waitstatus_to_exitcode(status)
        if is_asked or code in FINAL_CODES or code == -signal.SIGTERM:
            return code if code >= 0 else 128 - code
        lived = time.monotonic() - began
        deaths = 1 if lived >= GOOD_LIFE_SECONDS else deaths + 1
        seconds = delay(deaths)
        report(log_format, code, lived, seconds)
        if not rest(seconds):
            return 0


def delay(deaths: int) -> int:
    """Seconds until the next start after so many deaths in a row."""
    return min(2 ** (deaths - 2), LONGEST_SECONDS) if deaths > 1 else 0


def start(command: list[str]) -> int:
    """Starts the command as a child that ends with this process; returns its process ID."""
    parent = os.getpid()
    child = os.fork()
    if child:
        return child
    # This process has one thread, so its copy may run code before the program.
    try:
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == parent:
            # A terminal's Ctrl-C comes to this process alone, which passes it on.
            os.setpgid(0, 0)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            os.execv(command[0], command)
    finally:
        os._exit(CANNOT_RUN)


def wait(child: int) -> tuple[int, bool]:
    """Waits for the end of the child and passes signals on to it; returns its status, and whether it was asked to end.

    Processes that lost their parents end here too, where this one is the first of its container.
    """
    is_asked = False
    while (status := reap(child)) is None:
        number = signal.sigwait({*ENDS, signal.SIGCHLD})
        if number in ENDS:
            is_asked = True
            os.kill(child, number)
    return status, is_asked


def reap(child: int) -> int | None:
    """Takes every process that has ended; returns the status of the child if it is among them."""
    found = None
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if not ended:
            return found
        if ended == child:
            found = status


def rest(seconds: int) -> bool:
    """Waits; false as soon as a signal asks for the end."""
    deadline = time.monotonic() + seconds
    while True:
        number = signal.sigtimedwait({*ENDS, signal.SIGCHLD}, max(0.0, deadline - time.monotonic()))
        if number is None:
            return True
        if number.si_signo in ENDS:
            return False
        reap(0)


def report(log_format: str, code: int, lived: float, seconds: int) -> None:
    """One line in the form of the agent's log."""
    cause = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
    message = "the agent died and is started again"
    now = time.time()
    millisecond = f"{int(now * 1000) % 1000:03}"
    if log_format == "json":
        at = time.strftime(f"%Y-%m-%dT%H:%M:%S.{millisecond}Z", time.gmtime(now))
        values = f'"cause": "{cause}", "lived_seconds": {lived:.1f}, "in_seconds": {seconds}'
        line = f'{{{values}, "level": "warning", "at": "{at}", "message": "{message}"}}'
    else:
        at = time.strftime(f"%H:%M:%S.{millisecond}", time.gmtime(now))
        line = f"{at} [warning  ] {message} cause={cause!r} lived_seconds={lived:.1f} in_seconds={seconds}"
    try:
        os.write(2, f"{line}\n".encode())
    except OSError:
        # Nobody reads the log any more, which is no reason to leave the node without an agent.
        return


if __name__ == "__main__":
    sys.exit(supervise(sys.argv[1], sys.argv[2:]))
