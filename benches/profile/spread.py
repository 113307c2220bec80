"""Shows how ``phase: spread`` changes the peak of a rollout, in virtual time: ``python -m benches.profile.spread``.

It adds pods together, each with one readiness probe, and prints the attempts in the fullest 10 ms of each period.
"""

import argparse
import json
from collections import Counter
from typing import Literal

from probelet._rust import Simulation

BUCKET_MS = 10
PERIODS = 6
PHASES: tuple[Literal["kubelet", "spread"], ...] = ("kubelet", "spread")


def uid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


def pod(number: int, period: int) -> bytes:
    """Returns a defaulted v1.Pod."""
    probe = {"exec": {"command": ["true"]}, "periodSeconds": period, "timeoutSeconds": 1}
    probe |= {"successThreshold": 1, "failureThreshold": 3}
    metadata = {"name": f"pod-{number}", "namespace": "default", "uid": uid(number)}
    return json.dumps(
        {"metadata": metadata, "spec": {"containers": [{"name": "app", "readinessProbe": probe}]}}
    ).encode()


def facts(number: int) -> bytes:
    container = {"name": "app", "id": f"sim://{number}", "state": "running", "started_at_ms": 0}
    return json.dumps({"phase": "Running", "pod_ip": "127.0.0.1", "containers": [container]}).encode()


def peaks(phase: Literal["kubelet", "spread"], pods: int, period: int) -> list[int]:
    """Returns the attempts in the fullest bucket of each period after the rollout."""
    simulation = Simulation(phase=phase)
    for number in range(pods):
        simulation.define_pod(pod(number, period))
        simulation.script(f"pod-{number}/app/readiness", b'[{"outcome": "success", "delay_ms": 1}]')
        simulation.sync_pod(uid(number), facts(number))
    simulation.run_until(PERIODS * period * 1000 - 1)
    records = json.loads(simulation.take_records())
    buckets = Counter(record["t_ms"] // BUCKET_MS for record in records if record["section"] == "probes")
    of_period = [range(n * period * 1000 // BUCKET_MS, (n + 1) * period * 1000 // BUCKET_MS) for n in range(PERIODS)]
    return [max(buckets[bucket] for bucket in period_buckets) for period_buckets in of_period]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=1000)
    parser.add_argument("--period", type=int, default=10, help="periodSeconds")
    options = parser.parse_args()
    print(
        f"{options.pods:,} pods added together, periodSeconds {options.period}: attempts in the fullest {BUCKET_MS} ms"
    )
    print("period   " + "".join(f"{n + 1:>7}" for n in range(PERIODS)))
    for phase in PHASES:
        row = "".join(f"{peak:>7,}" for peak in peaks(phase, options.pods, options.period))
        print(f"{phase:<9}{row}")


if __name__ == "__main__":
    main()
