"""Waiting for a task and for the clock at once."""

import asyncio
from typing import Any

from probelet.kube.clock import Clock


async def done_within(clock: Clock, ns: int, awaited: "asyncio.Future[Any]") -> bool:
    """Waits for a task, at most ``ns`` nanoseconds of the clock; returns whether it is done. Does not cancel it."""
    over = asyncio.ensure_future(clock.sleep(ns))
    try:
        await asyncio.wait((awaited, over), return_when=asyncio.FIRST_COMPLETED)
    finally:
        over.cancel()
    return awaited.done()


async def set_within(clock: Clock, ns: int, event: asyncio.Event) -> bool:
    """Waits for an event as ``done_within`` for a task; returns whether it is set."""
    waiting = asyncio.ensure_future(event.wait())
    try:
        return await done_within(clock, ns, waiting)
    finally:
        await ended(waiting)


async def ended(task: "asyncio.Future[Any]") -> None:
    """Cancels a task and waits for its end. Its exception, if it has one, is the caller's to read."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        # Otherwise asyncio would complain about an exception that a cancelled caller never reads.
        task.exception()
