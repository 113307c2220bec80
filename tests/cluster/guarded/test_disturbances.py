"""Controllers that are killed or lose their Lease, an API server that goes away, and writers that are in the way."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.control_plane.api import ApiError
from tests.cluster.control_plane.plane import NODE_NAME
from tests.cluster.guarded.stage import Stage, failing, steady
from tests.cluster.installed import CONTROLLER, SYSTEM
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

FAILING, STEADY = ("failing-1", "failing-2", "failing-3"), ("steady-1", "steady-2")
AWAY_SECONDS = 60.0
TAKE_OVER_SECONDS = 60.0
NODE_PROBES = f"/apis/apps.kruise.io/v1alpha1/nodepodprobes/{NODE_NAME}"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases/{CONTROLLER}"


@pytest.fixture
def busy(stage: Stage) -> Stage:
    """A stage on which restarts are under way."""
    stage.run(*map(failing, FAILING), *map(steady, STEADY))
    stage.until_restarted(FAILING[0])
    return stage


def all_is_well(stage: Stage) -> None:
    """Each failing container is restarted again, each instance once, and the steady ones never."""
    stage.until_restarted(*FAILING)
    assert [stage.restarts(name) for name in STEADY] == [0, 0]
    stage.no_container_was_asked_for_twice()


def test_a_leader_that_is_killed_midway_leaves_nothing_undone_and_nothing_twice(busy: Stage) -> None:
    for _ in range(2):
        before = busy.enhanced.leader()
        busy.enhanced.kill_leader()
        killed = time.monotonic()
        until(lambda: busy.enhanced.leader() not in ("", before), "another leader", TAKE_OVER_SECONDS)  # noqa: B023
        sys.stdout.write(f"another leader after {time.monotonic() - killed:.1f} s\n")
    all_is_well(busy)


def test_two_controllers_that_lose_their_lease_again_and_again_restart_nothing_twice(busy: Stage) -> None:
    """F-13: with the Lease gone each of both may take it while the other has not noticed."""
    for _ in range(5):
        busy.cluster.api.delete(LEASE)
        time.sleep(6)
    until(lambda: bool(_leader(busy)), "a leader", TAKE_OVER_SECONDS)
    all_is_well(busy)


def _leader(stage: Stage) -> str:
    try:
        return stage.enhanced.leader()
    except ApiError:
        return ""


def test_an_api_server_that_is_away_for_a_minute(cluster: Cluster, busy: Stage) -> None:
    """F-2: nothing is decided meanwhile, and what was due happens afterwards."""
    cluster.control.api_server.stop(signal.SIGKILL)
    time.sleep(AWAY_SECONDS)
    cluster.control.api_server.start()
    until(cluster.control.is_ready, "the API server")
    until(cluster.node_is_ready, "the node to be ready")
    all_is_well(busy)


def test_a_node_that_has_lost_its_agent_restarts_nothing_until_it_has_one(stage: Stage) -> None:
    stage.run(steady(STEADY[0]))
    with stage.enhanced.without_agent():
        stage.run(failing(FAILING[0]))
        time.sleep(AWAY_SECONDS)
        assert (stage.requests(), stage.restarts(FAILING[0])) == ([], 0)
    stage.until_restarted(FAILING[0])
    assert stage.restarts(STEADY[0]) == 0


def test_another_writer_of_the_same_objects_costs_nothing_but_time(stage: Stage) -> None:
    """M-7, D-9: conflicts on the NodePodProbe's spec and status."""
    stage.run(steady(STEADY[0]))
    with writes_in_between(stage):
        stage.run(*map(failing, FAILING), steady(STEADY[1]))
        stage.until_restarted(*FAILING)
    all_is_well(stage)
    assert stage.mapped() == {*FAILING, *STEADY}


@contextmanager
def writes_in_between(stage: Stage) -> Iterator[None]:
    """Somebody changes an annotation of the NodePodProbe all the time, so every version is soon an old one."""
    over = threading.Event()

    def write() -> None:
        number = 0
        while not over.wait(0.05):
            number += 1
            try:
                stage.cluster.api.patch(NODE_PROBES, {"metadata": {"annotations": {"test": str(number)}}})
            except ApiError:
                continue

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
