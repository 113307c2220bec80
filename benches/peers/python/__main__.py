"""A straightforward prober in Python: a task per worker, aiohttp's client, nothing else."""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import aiohttp
from probelet.base import open_files
from probelet.lab.bench.place import Faulty, Place
from probelet.lab.bench.usage import resident_bytes, usage

TIMEOUT_SECONDS = 1


@dataclass
class Counts:
    probes: int = 0
    false_failures: int = 0
    ended: bool = False
    """Checked as well as the cancellation, because a probe that times out at that moment swallows a cancellation."""


Probe = Callable[[str, int], Awaitable[bool]]


def http(session: aiohttp.ClientSession, scheme: str) -> Probe:
    async def probe(address: str, port: int) -> bool:
        async with session.get(f"{scheme}://{address}:{port}/healthz", allow_redirects=False) as answer:
            await answer.read()
            return 200 <= answer.status < 400

    return probe


async def tcp(address: str, port: int) -> bool:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        _, writer = await asyncio.open_connection(address, port)
    writer.close()
    return True


async def worker(number: int, options: argparse.Namespace, probe: Probe, counts: Counts) -> None:
    faulty = options.faulty is not None and options.faulty.has(number)
    place: Place = options.faulty.place if faulty else options.target
    address, loop = place.address(number), asyncio.get_running_loop()
    if not options.burst:
        await asyncio.sleep(random.uniform(0, options.period))
    due = loop.time()
    while not counts.ended:
        try:
            good = await probe(address, place.port)
        except (aiohttp.ClientError, OSError, TimeoutError):
            good = False
        counts.probes += 1
        counts.false_failures += not good and not faulty
        due += options.period
        await asyncio.sleep(due - loop.time())


async def measure(options: argparse.Namespace) -> None:
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
    connector = aiohttp.TCPConnector(limit=0, force_close=True, ssl=False)
    counts = Counts()
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        probe = tcp if options.handler == "tcp" else http(session, options.handler)
        loaded, began = resident_bytes(), time.monotonic()
        tasks = [asyncio.create_task(worker(number, options, probe, counts)) for number in range(options.workers)]
        await asyncio.sleep(0)
        added = time.monotonic() - began
        await asyncio.sleep(options.warm)
        print("measuring", file=sys.stderr, flush=True)
        before, used, began = Counts(counts.probes, counts.false_failures), usage(), time.monotonic()
        await asyncio.sleep(options.duration)
        elapsed, used = time.monotonic() - began, usage() - used
        probes = counts.probes - before.probes
        print("measured", file=sys.stderr, flush=True)
        report = {
            "schema": "probelet-bench/1",
            "engine": "asyncio",
            "scenario": options.handler,
            "workers": options.workers,
            "probes": probes,
            "probes_per_second": round(probes / elapsed, 1),
            "cpu_us_per_probe": round(used.cpu_seconds * 1e6 / probes, 2) if probes else None,
            "false_failures": counts.false_failures - before.false_failures,
            "bytes_per_worker": round((resident_bytes() - loaded) / options.workers),
            "add_ms": round(added * 1000, 1),
            "wakeups_per_second": round(used.wakeups / elapsed, 1),
        }
        counts.ended = True
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    print(json.dumps(report))


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("handler", choices=["http", "https", "tcp"])
    parser.add_argument("--target", type=Place.parse, required=True)
    parser.add_argument("--faulty", type=Faulty.parse)
    parser.add_argument("--workers", type=int, default=1000)
    for name, default in (("--period", 1), ("--warm", 2), ("--duration", 10)):
        parser.add_argument(name, type=seconds, default=default)
    parser.add_argument("--burst", action="store_true")
    open_files.raise_limit()
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
