"""The thread on which the agent changes files of its state directory, so that a disk may hang."""

import asyncio
import errno
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Final

WAIT_SECONDS: Final = 5.0
"""How long a caller waits for the disk, in real time: a disk that needs longer counts as one that refuses, and later
callers do not wait for it at all until it has made a change."""

Change = Callable[[], None]


class DiskThread:
    """Makes changes of files one after another. While a change waits, a later one of the same file replaces it, so that
    a disk that hangs for a day leaves as many changes behind as there are files.

    The thread lives while there is work, and does not hold up the end of the process.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: dict[str, tuple[Change, list[Future[None]]]] = {}
        self._runs = False
        self._hangs = False
        """Whether a caller has waited in vain for the change that the thread is making."""

    async def make(self, name: str, change: Change) -> None:
        """Makes a change of the file ``name``, and returns when it is made. Raises OSError; TimeoutError, which is one,
        if the disk hangs: then the change is made once the disk goes on, unless a later one of the file comes."""
        made: Future[None] = Future()
        with self._lock:
            _, others = self._waiting.pop(name, (None, []))
            # Callers that gave up have cancelled, and would be as many as the changes of a day.
            self._waiting[name] = change, [*(each for each in others if not each.cancelled()), made]
            if not self._runs:
                self._runs = True
                Thread(target=self._run, name="probelet-state", daemon=True).start()
            hangs = self._hangs
        awaited = asyncio.wrap_future(made)
        done, _ = await asyncio.wait({awaited}, timeout=0.0 if hangs else WAIT_SECONDS)
        if not done:
            awaited.cancel()
            with self._lock:
                self._hangs = self._runs
            raise TimeoutError(errno.ETIMEDOUT, f"the disk has not answered for {WAIT_SECONDS:g} s")
        await awaited

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._runs = self._hangs = False
                    return
                name = next(iter(self._waiting))
                change, callers = self._waiting.pop(name)
            failed = _failure_of(change)
            self._hangs = False
            for caller in callers:
                # A caller that has given up has cancelled.
                if caller.set_running_or_notify_cancel():
                    caller.set_exception(failed) if failed else caller.set_result(None)


def _failure_of(change: Change) -> Exception | None:
    try:
        change()
    except Exception as error:  # Whatever it is, it belongs to the callers, and the next change has its turn.
        return error
    return None
