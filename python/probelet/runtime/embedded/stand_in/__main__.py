"""``python -m probelet.runtime.embedded.stand_in PLAN``: answers the probes of one container until it is killed."""

import asyncio
import os
import random
import shutil
import signal
import sys
import time

from probelet.runtime.embedded.stand_in import commands
from probelet.runtime.embedded.stand_in.answers import serve
from probelet.runtime.embedded.stand_in.behaving import Life
from probelet.runtime.embedded.stand_in.plan import Plan, decode


async def main(plan: Plan, address: str) -> int:
    """Serves until SIGTERM, or until the plan has it exit; returns the exit code."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    loop.add_signal_handler(signal.SIGINT, stopped.set)
    life = Life(plan.behaviour, random.Random())
    up = asyncio.Event()
    where = commands.folder(os.environb)

    async def exit_code() -> int:
        if not up.is_set():
            return 1
        await life.answer()
        return 0

    for probe_type in plan.commands:
        commands.serve(where, probe_type, lambda: asyncio.run_coroutine_threadsafe(exit_code(), loop).result())
    starting = asyncio.create_task(_start(plan, address, life, up))
    ending = life.exits()
    try:
        async with asyncio.timeout(None if ending is None else max(ending.at - time.monotonic(), 0)):
            await stopped.wait()
    except TimeoutError:
        assert ending is not None
        return ending.code
    finally:
        starting.cancel()
        shutil.rmtree(where, ignore_errors=True)
    return 0


async def _start(plan: Plan, address: str, life: Life, up: asyncio.Event) -> None:
    """Serves once the start is over; before that, connections are refused and commands fail."""
    await asyncio.sleep(life.starts_after())
    taken: list[str] = []
    for port in plan.ports:
        try:
            await serve(address, port, life)
        except OSError as error:
            taken.append(f"{port.number} ({error.strerror})")
    up.set()
    served = ", ".join(f"{each.number}{' with TLS' if each.is_tls else ''}" for each in plan.ports) or "no port"
    sys.stdout.write(f"stand-in for {plan.name}: {address}, {served}\n")
    if taken:
        sys.stderr.write(f"not served: {', '.join(taken)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    code = asyncio.run(main(decode(sys.argv[1]), os.environ.get("POD_IP", "127.0.0.1")))
    sys.stdout.flush()
    # A thread that waits for a reader would keep the process.
    os._exit(code)
