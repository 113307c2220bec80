"""The waits before restarts after a failed liveness probe, native and taken over, as docs/cluster/agent.md has them."""

import sys
from itertools import pairwise

import pytest

from tests.cluster.disturbances.pods import managed
from tests.cluster.namespace import Namespace
from tests.cluster.record.recording import Recording
from tests.cluster.record.seen import ClusterSide
from tests.kubelet.beside.pods.make import Object, answers, container, pod

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(420)]

WAITS = {
    ("seconds", "native"): (0, 0, 10, 20),
    ("seconds", "taken"): (0, 10, 20),
    ("half-a-minute", "native"): (0, 0, 0, 0, 40),
    ("half-a-minute", "taken"): (0, 10, 20, 40),
}
"""A kubelet that kills looks at the end of the life before: it starts the next one at once if that is longer ago than
the delay. An exit that it did not order counts from now."""
LIFE_SECONDS = {"seconds": 5, "half-a-minute": 28}
EARLY_SECONDS, LATE, LATE_SECONDS = 0.5, 1.5, 4.0
"""A kubelet looks at a container that waits again up to half a delay late; a start on a busy machine takes seconds."""


@pytest.mark.usefixtures("probelet")
def test_waits_of_both_sides(namespace: Namespace) -> None:
    recording = Recording(namespace, namespace.cluster.folder / "scenes" / namespace.name, "waits")
    recording.begin()
    try:
        for life, side in WAITS:
            one = failing(f"{life}-{side}", LIFE_SECONDS[life])
            namespace.create(managed(one) if side == "taken" else one)
        for (life, side), waits in WAITS.items():
            name = f"{life}-{side}"
            namespace.until(lambda name=name, waits=waits: restarts(namespace, name) >= len(waits), name, 360.0)
    finally:
        recording.end()
    seen = ClusterSide(recording.out)
    for (life, side), expected in WAITS.items():
        found = waits_of(seen, f"{life}-{side}")[: len(expected)]
        sys.stdout.write(f"{life}, {side}: {' '.join(f'{wait:.1f}' for wait in found)}\n")
        assert all(
            wanted - EARLY_SECONDS <= wait <= wanted * LATE + LATE_SECONDS
            for wait, wanted in zip(found, expected, strict=True)
        ), f"{life} {side}: {found}"


def failing(name: str, seconds: int) -> Object:
    """A pod whose container fails its liveness probe after so many seconds, in each life."""
    row = f"200x{seconds},500"
    return pod(name, container(livenessProbe=answers("l", row, failureThreshold=1)), terminationGracePeriodSeconds=2)


def restarts(namespace: Namespace, name: str) -> int:
    statuses = namespace.pod(name)["status"].get("containerStatuses") or [{}]
    return int(statuses[0].get("restartCount", 0))


def waits_of(seen: ClusterSide, name: str) -> list[float]:
    return [after.started - one.finished for one, after in pairwise(seen.of(name)["app"])]
