"""An incident of 10,000 pods takes at most a mebibyte, however long it lasts and however often it comes again."""

import tracemalloc

import pytest
from probelet.policy.incidents import Ended, IncidentDetector, Passed, ProbeKnown, Subject, Turn

PODS = 10_000
PERIOD_MS = 10_000
MEBIBYTE = 2**20
WORKLOADS = 500
NODES = 100


class Crowd:
    """Pods that ask one database, with the memory that the detector takes beyond its knowledge of them."""

    def __init__(self) -> None:
        self.detector = IncidentDetector()
        self.now = 0
        self.ended = 0
        for number in range(PODS):
            node, workload = f"node-{number % NODES}", f"Deployment/app-{number % WORKLOADS}"
            pod = f"pod-{number}"
            self.detector.handle(
                0, ProbeKnown(Subject(pod, "default", pod, "app", "readiness", node, workload, "", ("db:5432",)))
            )
        self.uids = [pod.uid for pod in self.detector._known.pods.values()]
        self.attempts(is_good=True)
        self.before = tracemalloc.get_traced_memory()[0]

    def attempts(self, *, is_good: bool) -> None:
        """An attempt of each pod, one after the other within a period."""
        for number, uid in enumerate(self.uids):
            # The engine makes new strings for each turn, as this does.
            cause = (b"ok" if is_good else b"header_timeout").decode()
            at = self.now + number * PERIOD_MS // PODS
            found = self.detector.handle(at, Turn(uid, "app", "readiness", at, is_good, cause, 0.0, 0.0, ""))
            self.ended += sum(isinstance(each, Ended) for each in found)
        self.now += PERIOD_MS

    def quiet(self) -> None:
        """Time passes without attempts."""
        self.now += 20 * PERIOD_MS
        self.ended += sum(isinstance(each, Ended) for each in self.detector.handle(self.now, Passed()))

    @property
    def bytes(self) -> int:
        return tracemalloc.get_traced_memory()[0] - self.before


@pytest.mark.slow
def test_ten_thousand_pods_take_a_mebibyte_at_most() -> None:
    tracemalloc.start()
    try:
        crowd = Crowd()
        for _ in range(2):
            crowd.attempts(is_good=False)
        crowd.quiet()
        [incident] = crowd.detector.open
        assert incident.counts.pods == PODS
        assert crowd.bytes <= MEBIBYTE
        for _ in range(2):
            crowd.attempts(is_good=True)
            crowd.attempts(is_good=False)
            crowd.quiet()
            assert crowd.bytes <= MEBIBYTE
        crowd.attempts(is_good=True)
        crowd.quiet()
        assert crowd.detector.open == []
        assert crowd.ended >= 1
        assert crowd.bytes <= MEBIBYTE
    finally:
        tracemalloc.stop()
