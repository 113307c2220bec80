"""A liveness probe that always fails is rolled out to fifty pods: by enhanced liveness, and by the kubelet alone.

The record of both is build/cluster/bad-rollout.json; `python -m tests.cluster.guarded.plot` draws it.
"""

import json
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest

from tests.cluster.control_plane.api import Object
from tests.cluster.guarded.stage import OPT_IN, Stage, budget, deployment
from tests.cluster.guarded.timeline import Timeline, timeline
from tests.cluster.record.notes import Notes
from tests.kubelet.beside.pods.make import answers
from tests.support.paths import BUILD

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3000)]

SHOP, REPLICAS, UNAVAILABLE = "shop", 50, 5
DEPLOYMENTS = "apps/v1/deployments"
RECORD = BUILD / "cluster" / "bad-rollout.json"

START_SECONDS = 600.0
PLAY_SECONDS = 100.0
BUDGET_SECONDS = 60.0
"""How long the budget alone limits restarts, at the end of the guarded play."""
PERIOD = 5


def shop(code: str) -> Object:
    """Fifty pods; ``code`` answers the liveness probe. Readiness is patient: a busy machine is no bad rollout."""
    liveness = answers("l", code, periodSeconds=PERIOD, timeoutSeconds=5, failureThreshold=2)
    readiness = answers("r", "200", periodSeconds=2, timeoutSeconds=10, failureThreshold=10)
    return deployment(SHOP, REPLICAS, liveness, readiness, surge=10)


def without_opt_in(thing: Object) -> Object:
    thing = deepcopy(thing)
    del thing["spec"]["template"]["metadata"]["annotations"][OPT_IN]
    return thing


def test_never_more_pods_are_down_than_the_budget_and_kubelets_take_them_all(stage: Stage) -> None:
    # The defaults, but for the node: all fifty pods are on the one that there is.
    stage.enhanced.settings(rate_tokensPerMinute="10", rate_burst="5", workload_maxInFlight="20%")
    stage.namespace.create(budget(SHOP, UNAVAILABLE), "policy/v1/poddisruptionbudgets")
    file = stage.cluster.folder / "scenes" / f"{stage.namespace.name}.jsonl"
    file.parent.mkdir(exist_ok=True)
    guarded = play(stage, shop, file, guard=True)
    assert guarded.least_ready(0) >= REPLICAS - UNAVAILABLE
    assert guarded.total_restarts() > 0, "nobody restarted anything"
    stage.no_container_was_asked_for_twice()
    native = play(stage, lambda code: without_opt_in(shop(code)), file, guard=False)
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    plays = {"guarded": vars(guarded), "native": vars(native)}
    RECORD.write_text(
        json.dumps({"replicas": REPLICAS, "budget": UNAVAILABLE, "breaker_off_at": PLAY_SECONDS, **plays})
    )
    assert native.least_ready(0) < REPLICAS - UNAVAILABLE
    assert native.total_restarts() > guarded.total_restarts()


def play(stage: Stage, made: Callable[[str], Object], file: Path, *, guard: bool) -> Timeline:
    """Fifty good pods, then the rollout; the time begins with it."""
    namespace = stage.namespace
    namespace.create(made("200"), DEPLOYMENTS)
    stage.until(lambda: ready(stage) == REPLICAS, "fifty pods to be ready", START_SECONDS)
    notes = Notes(stage.cluster.api, namespace.path("pods"), file)
    notes.start()
    stage.until(lambda: file.read_text().count("\n") >= REPLICAS, "a note about each pod")
    began_ns = time.time_ns()
    stage.cluster.api.patch(namespace.path(DEPLOYMENTS, SHOP), {"spec": made("500")["spec"]})
    time.sleep(PLAY_SECONDS)
    if guard:
        stage.until(lambda: is_rolled_out(stage), "the rollout to be complete", START_SECONDS)
        # From here on nothing but the budget holds a restart back.
        stage.enhanced.settings(rate_tokensPerMinute="600", workload_maxInFlight="100%", breaker_action="off")
    time.sleep(BUDGET_SECONDS)
    notes.end()
    found = timeline(file, SHOP, began_ns)
    # The API server has closed a connection that was idle for so long; only a GET opens another one by itself.
    ready(stage)
    stage.cluster.api.delete(namespace.path(DEPLOYMENTS, SHOP))
    stage.until(lambda: not namespace.pods(), "the pods to be gone", START_SECONDS)
    return found


def ready(stage: Stage) -> int:
    return int(stage.cluster.api.get(stage.namespace.path(DEPLOYMENTS, SHOP)).get("status", {}).get("readyReplicas", 0))


def is_rolled_out(stage: Stage) -> bool:
    status = stage.cluster.api.get(stage.namespace.path(DEPLOYMENTS, SHOP))["status"]
    return bool(status.get("updatedReplicas", 0) == status.get("replicas", 0) == REPLICAS)
