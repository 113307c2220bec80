"""containerd away: nobody is killed, and what failed meanwhile is killed afterwards, once."""

import signal
import time

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.disturbances.pods import STARTING
from tests.cluster.disturbances.scene import (
    Scene,
    each_failure_killed_once,
    never_ready,
    nothing_was_killed_that_should_live,
)

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

AWAY_SECONDS = 8.0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_containerd_that_is_away_for_seconds_costs_no_container_its_life(
    cluster: Cluster, scene: Scene, number: signal.Signals
) -> None:
    cluster.runtime.kill(number)
    time.sleep(AWAY_SECONDS)
    cluster.runtime.run()
    scene.until_killed()
    scene.settle()
    seen = scene.end()
    nothing_was_killed_that_should_live(seen)
    # A hook that begins while containerd is away cannot run, and is not tried again.
    assert each_failure_killed_once(seen, hooks=(0, 1)) > 0
    assert never_ready(seen, STARTING)
