"""An agent that is killed goes on where it was: kills under way, counters, conditions."""

import random
import time
from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.disturbances.scene import Scene, nobody_noticed
from tests.cluster.installed import Installed
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

KILLS, LIFE_SECONDS_MAX, SEED = 20, 5.0, 18

SOON = "crashLoopBackOff: {maxContainerRestartPeriod: 1s}"
"""The kubelet would otherwise wait up to five minutes before it starts a killed agent again."""


@pytest.fixture
def soon_again(cluster: Cluster) -> Iterator[None]:
    """A kubelet that starts containers again within a second."""
    cluster.restart_kubelet(SOON)
    yield
    cluster.restart_kubelet()


@pytest.mark.usefixtures("soon_again")
def test_an_agent_that_is_killed_twenty_times_at_random_moments_kills_nothing_twice_or_wrongly(
    probelet: Installed, scene: Scene
) -> None:
    moments, before = random.Random(SEED), restarts(probelet)
    for _ in range(KILLS):
        probelet.kill_agent()
        until(probelet.agent_container, "the agent to run again")
        time.sleep(moments.uniform(0, LIFE_SECONDS_MAX))
    until(probelet.agent_is_ready, "the agent to be ready")
    scene.until_killed()
    scene.settle()
    seen = scene.end()
    # An agent that dies between the note that a hook begins and its start leaves a hook that nobody knows to have run.
    nobody_noticed(seen, hooks=(0, 1))
    assert restarts(probelet) == before + KILLS, [one["status"] for one in probelet.agent_pods()]


def restarts(probelet: Installed) -> int:
    """How often the agent's container has been restarted."""
    return sum(one["status"]["containerStatuses"][0]["restartCount"] for one in probelet.agent_pods())
