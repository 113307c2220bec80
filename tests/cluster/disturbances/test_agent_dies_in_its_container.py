"""An agent that dies in its container is started again by its parent there, and the kubelet's back-off plays no part.

The kubelet is a stock one: after five ends of a container in a row it would wait for minutes.
"""

import signal

import pytest

from tests.cluster.disturbances.scene import Scene, nobody_noticed
from tests.cluster.installed import Installed
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

KILLS = 5
HANGS_SECONDS = 300.0
"""Six failures of the kubelet's liveness probe in a row, ten seconds apart, and a grace of thirty."""


def restarts(probelet: Installed) -> int:
    """How often the kubelet has started the agent's container again."""
    (pod,) = probelet.agent_pods()
    return int(pod["status"]["containerStatuses"][0]["restartCount"])


def test_five_deaths_in_a_row_are_none_of_the_kubelets_and_kill_nothing_twice_or_wrongly(
    probelet: Installed, scene: Scene
) -> None:
    container, before = probelet.agent_container(), restarts(probelet)
    for _ in range(KILLS):
        killed = probelet.signal_worker(signal.SIGKILL)
        until(lambda: probelet.worker() not in (0, killed), "the agent to be started again")  # noqa: B023
    scene.until_killed()
    scene.settle()
    assert probelet.agent_is_ready()
    seen = scene.end()
    nobody_noticed(seen)
    assert (probelet.agent_container(), restarts(probelet)) == (container, before)


def test_an_agent_that_hangs_and_does_not_die_is_the_kubelets_to_restart(probelet: Installed) -> None:
    container, before = probelet.agent_container(), restarts(probelet)
    probelet.signal_worker(signal.SIGSTOP)
    until(lambda: restarts(probelet) == before + 1, "the kubelet to restart the container", HANGS_SECONDS)
    until(probelet.agent_is_ready, "the agent to be ready")
    assert probelet.agent_container() != container
