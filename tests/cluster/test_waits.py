"""The waits before restarts after a failed liveness probe, native and taken over, as docs/cluster/agent.md has them."""

import sys

import pytest

from tests.cluster.disturbances.pods import managed
from tests.cluster.namespace import Namespace
from tests.cluster.record.recording import Recording
from tests.cluster.record.seen import ClusterSide
from tests.cluster.waits import explains, possible, waits_of
from tests.kubelet.beside.pods.make import Object, answers, container, pod

SHORT = {
    ("5s", "native"): 4,
    ("5s", "taken"): 3,
    ("28s", "native"): 5,
    ("28s", "taken"): 4,
}
LONG = {
    ("120s", "native"): 7,
    ("120s", "taken"): 5,
    ("300s", "native"): 4,
    ("300s", "taken"): 3,
}
"""How many restarts are waited for, of containers that fail after so many seconds of each life, for each side."""


@pytest.mark.cluster
@pytest.mark.usefixtures("probelet")
@pytest.mark.parametrize(
    ("wanted", "patience"),
    [
        pytest.param(SHORT, 360.0, marks=pytest.mark.timeout(420), id="short"),
        pytest.param(LONG, 2000.0, marks=[pytest.mark.slow, pytest.mark.timeout(2400)], id="long"),
    ],
)
def test_waits_of_both_sides(namespace: Namespace, wanted: dict[tuple[str, str], int], patience: float) -> None:
    recording = Recording(namespace, namespace.cluster.folder / "scenes" / namespace.name, "waits")
    recording.begin()
    try:
        for life, side in wanted:
            one = failing(f"{life}-{side}", int(life.removesuffix("s")))
            namespace.create(managed(one) if side == "taken" else one)
        for (life, side), many in wanted.items():
            name = f"{life}-{side}"
            namespace.until(lambda name=name, many=many: restarts(namespace, name) >= many, name, patience)
            namespace.until_ready(name)
    finally:
        recording.end()
    seen = ClusterSide(recording.out)
    for (life, side), many in wanted.items():
        lives = seen.of(f"{life}-{side}")["app"]
        found = waits_of(lives)[:many]
        sys.stdout.write(f"{life}, {side}: {' '.join(f'{wait:.1f}' for wait in found)}\n")
        ends = [one.finished for one in lives[:many]]
        assert len(found) == many, f"{life} {side}: {found}"
        assert explains(side, ends, found), f"{life} {side}: {found} for {possible(side, ends)}"


def failing(name: str, seconds: int) -> Object:
    """A pod whose container fails its liveness probe after so many seconds, in each life."""
    row = f"200x{seconds},500"
    return pod(name, container(livenessProbe=answers("l", row, failureThreshold=1)), terminationGracePeriodSeconds=2)


def restarts(namespace: Namespace, name: str) -> int:
    statuses = namespace.pod(name)["status"].get("containerStatuses") or [{}]
    return int(statuses[0].get("restartCount", 0))
