"""A network between the node and its pods that breaks and comes back: the pods are well, and none is restarted."""

import time

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.control_plane.api import Object
from tests.cluster.guarded.stage import Stage, guarded
from tests.kubelet.beside.pods.make import answers, container, pod

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

FAST, SLOW = ("fast-1", "fast-2", "fast-3"), ("slow-1", "slow-2", "slow-3")
SLOW_PERIOD = 30
AWAY_SECONDS = 80.0
"""Until the slow probes have failed twice, which is their threshold."""
BACK_SECONDS = 2 * SLOW_PERIOD


def steady(name: str, period: int) -> Object:
    probe = answers("l", "200", periodSeconds=period, failureThreshold=2)
    return guarded(pod(name, container(livenessProbe=probe)))


def test_behind_a_broken_network_nothing_is_restarted_whatever_the_periods(cluster: Cluster, stage: Stage) -> None:
    """F-11: the fast probes have failed for good before the slow ones have made an attempt."""
    stage.enhanced.settings(nodeBreaker_minPods="4", breaker_action="off", workload_maxInFlight="100%")
    names = (*FAST, *SLOW)
    stage.run(*(steady(name, 3) for name in FAST), *(steady(name, SLOW_PERIOD) for name in SLOW))
    stage.until(lambda: all(stage.state(name) == "Succeeded" for name in names), "a first result of each")
    with cluster.nodes[0].unreachable([stage.namespace.pod(name)["status"]["podIP"] for name in names]):
        stage.until(lambda: stage.state(FAST[0]) == "Failed", "the failure to be published")
        time.sleep(AWAY_SECONDS)
        assert {stage.state(name) for name in names} == {"Failed"}
        assert stage.requests() == []
    time.sleep(BACK_SECONDS)
    stage.until(lambda: all(stage.state(name) == "Succeeded" for name in names), "the recovery of each")
    assert (stage.requests(), [stage.restarts(name) for name in names]) == ([], [0] * len(names))
