"""One incident of 10,000 pods: the memory of the incident, and the time that an attempt takes."""

import time
import tracemalloc
from typing import Any, Final

from probelet.policy.incidents import IncidentDetector, Passed, ProbeKnown, Subject, Turn

PODS: Final = 10_000
WORKLOADS: Final = 500
NODES: Final = 100
PERIOD_MS: Final = 10_000


def large(pods: int = PODS) -> dict[str, Any]:
    """The figures. The pods themselves are known before; only what the incident adds counts."""
    detector = IncidentDetector()
    names = [(f"uid-{number}", f"pod-{number}") for number in range(pods)]
    for number, (uid, pod) in enumerate(names):
        node, workload = f"node-{number % NODES}", f"Deployment/app-{number % WORKLOADS}"
        detector.handle(
            0, ProbeKnown(Subject(uid, "default", pod, "app", "readiness", node, workload, "", ("db:5432",)))
        )
        detector.handle(0, Turn(uid, "app", "readiness", 0, True, "ok", 0.0, 0.0, ""))
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for count in range(5):
        for number, (uid, _) in enumerate(names):
            at = 20_000 + count * PERIOD_MS + number * PERIOD_MS // pods
            detector.handle(at, _failed(uid, at))
    detector.handle(200_000, Passed())
    settled, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    [incident] = detector.open
    began = time.process_time()
    for number, (uid, _) in enumerate(names):
        at = 210_000 + number * PERIOD_MS // pods
        detector.handle(at, _failed(uid, at))
    took = time.process_time() - began
    return {
        "pods": incident.counts.pods,
        "kib": round((settled - before) / 1024),
        "peak_kib": round((peak - before) / 1024),
        "micros_a_turn": round(1e6 * took / pods, 1),
        "evidence": incident.evidence,
    }


def _failed(uid: str, at: int) -> Turn:
    # The engine makes a new string for each turn.
    return Turn(uid, "app", "readiness", at, False, b"header_timeout".decode(), 0.0, 0.0, "")
