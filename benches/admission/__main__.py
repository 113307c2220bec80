"""``make bench-webhook``: admission requests over TLS at a fixed rate; latency, processor time and memory.

Client and webhook share the machine; the time is the client's, from the call to the answer's last byte. The rows: one
replica with pods of two and of fifty containers, two replicas in turn, and two of which one gets SIGTERM in the middle,
as in a rollout. The load leaves a replica ``LOOK_SECONDS`` after its ``/readyz`` has said that it ends, as a Service
does. A request that fails would leave a pod with native probes.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benches.admission.load import Latencies, apply, review
from benches.admission.replica import Replica
from benches.machine import machine

SCHEMA = "probelet-admission/1"
REPORT = Path("build/admission.json")

P99_MS_MAX = 5.0
"""The budget at 200 requests a second."""

LOOK_SECONDS = 0.5
"""How late the load learns that a replica ends. The webhook answers for ten times as long."""


def row(name: str, rate: int, found: Latencies, before: Sequence[float], replicas: Sequence[Replica]) -> dict[str, Any]:
    """The figures of one scenario. ``before`` has the processor seconds of the replicas that are still there."""
    cpu = sum(replica.metric("process_cpu_seconds_total") for replica in replicas) - sum(before)
    memory = max(replica.metric("process_resident_memory_bytes") for replica in replicas)
    return {
        "scenario": name,
        "rate": rate,
        "requests": len(found.seconds),
        "failed": found.failed,
        "p50_ms": round(found.quantile(0.5), 2),
        "p99_ms": round(found.quantile(0.99), 2),
        "max_ms": round(found.quantile(1), 2),
        "cpu_ms": round(1e3 * cpu / max(1, len(found.seconds)), 3),
        "rss_mib": round(memory / 2**20, 1),
    }


async def steady(name: str, replicas: Sequence[Replica], containers: int, rate: int, seconds: float) -> dict[str, Any]:
    """All replicas in turn."""
    urls = [f"{replica.url}/mutate-probes" for replica in replicas]
    before = [replica.metric("process_cpu_seconds_total") for replica in replicas]
    found = await apply(review(containers), rate, seconds, lambda _: urls)
    return row(name, rate, found, before, replicas)


async def rollout(replicas: Sequence[Replica], rate: int, seconds: float) -> dict[str, Any]:
    """The first replica gets SIGTERM in the middle."""
    ready = [f"{replica.url}/mutate-probes" for replica in replicas]
    before = [replica.metric("process_cpu_seconds_total") for replica in replicas[1:]]

    async def ending() -> None:
        await asyncio.sleep(seconds / 2)
        replicas[0].terminate()
        await asyncio.sleep(LOOK_SECONDS)
        assert replicas[0].page("/readyz")[0] == 503, "it says at once that it ends"
        del ready[0]

    end = asyncio.create_task(ending())
    found = await apply(review(2), rate, seconds, lambda _: list(ready))
    await end
    return row("two replicas, one ends", rate, found, before, replicas[1:])


def show(rows: Sequence[dict[str, Any]]) -> None:
    print(f"{'':<30} {'requests':>8} {'failed':>6} {'p50':>8} {'p99':>8} {'max':>8} {'cpu':>9} {'rss':>9}")
    for each in rows:
        print(
            f"{each['scenario']:<30} {each['requests']:8} {each['failed']:6} {each['p50_ms']:5.2f} ms "
            f"{each['p99_ms']:5.2f} ms {each['max_ms']:5.2f} ms {each['cpu_ms']:6.3f} ms {each['rss_mib']:5.1f} MiB"
        )


async def measure(rate: int, seconds: float) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="probelet-admission-") as name:
        replicas: list[Replica] = []
        try:
            replicas += [Replica(Path(name), number) for number in range(2)]
            return [
                await steady("one replica", replicas[:1], 2, rate, seconds),
                await steady("one replica, 50 containers", replicas[:1], 50, rate // 4 or 1, seconds),
                await steady("two replicas", replicas, 2, rate, seconds),
                await rollout(replicas, rate, seconds),
            ]
        finally:
            for replica in replicas:
                replica.stop()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benches.admission")
    parser.add_argument("--rate", type=int, default=200, help="requests a second")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each scenario")
    options = parser.parse_args()
    known = machine()
    print(f"{known['cpu']}, {known['cores']} cores, Python {known['python']}, commit {known['commit']}")
    print(f"{options.rate} requests a second, {options.seconds:g} s each")
    rows = asyncio.run(measure(options.rate, options.seconds))
    show(rows)
    reached = rows[0]["p99_ms"] < P99_MS_MAX
    print(f"p99 under {P99_MS_MAX:g} ms with one replica: {'reached' if reached else 'missed'}")
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(json.dumps({"schema": SCHEMA, "machine": known, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
