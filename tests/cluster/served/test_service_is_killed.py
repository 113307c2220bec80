"""The prober of a kubelet is killed in a row: the kubelet hands everything over again, and nobody notices."""

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.disturbances.pods import STARTING, STEADY
from tests.cluster.disturbances.scene import (
    Scene,
    each_failure_killed_once,
    never_ready,
    nothing_was_killed_that_should_live,
    stayed_ready,
)
from tests.cluster.served.prober import ServedProber

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

KILLS = 3


def test_a_killed_service_turns_no_condition_and_restarts_no_healthy_container(
    cluster: Cluster, prober: ServedProber, restore: str, scene: Scene
) -> None:
    # Without a journal the service is like a kubelet that starts anew, which forgets that a young container is ready.
    remembers = restore == "full"
    for _ in range(KILLS):
        if not remembers:
            scene.until_old()
        prober.kill(forget=not remembers)
        prober.start(cluster, restore)
        scene.until_killed()
    scene.until_steady()
    seen = scene.end()
    nothing_was_killed_that_should_live(seen)
    assert each_failure_killed_once(seen) >= KILLS
    assert all(stayed_ready(seen, name) for name in STEADY)
    assert never_ready(seen, STARTING)
