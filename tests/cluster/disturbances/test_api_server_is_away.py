"""The API server away for a minute: probing and killing go on, and its objects are right soon after it is back."""

import signal
import time

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.disturbances.pods import FAILING, STARTING
from tests.cluster.disturbances.scene import (
    Scene,
    each_failure_killed_once,
    never_ready,
    nothing_was_killed_that_should_live,
)
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

AWAY_SECONDS = 60.0


def test_pods_are_probed_and_killed_while_the_api_server_is_away_for_a_minute(cluster: Cluster, scene: Scene) -> None:
    scene.mark("away")
    cluster.control.api_server.stop(signal.SIGKILL)
    time.sleep(AWAY_SECONDS)
    scene.mark("back")
    cluster.control.api_server.start()
    until(cluster.control.is_ready, "the API server")
    until(cluster.node_is_ready, "the node to be ready")
    scene.settle()
    seen = scene.end()
    nothing_was_killed_that_should_live(seen)
    assert each_failure_killed_once(seen) > 0
    assert never_ready(seen, STARTING)
    away, back = seen.mark("away"), seen.mark("back")
    ends = [one.finished for name in FAILING for one in seen.of(name)["app"] if away < one.finished < back]
    assert ends, "no container was killed while the API server was away"
