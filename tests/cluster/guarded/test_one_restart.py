"""From the creation of a pod to the end of the request that restarted its container."""

import json
import sys
import time

import pytest

from tests.cluster.guarded.stage import CONTEXT, FAILS, GOOD_ANSWERS, OPT_IN, Stage, budget, deployment, failing, steady
from tests.kubelet.beside.pods.make import answers
from tests.kubelet.beside.seen.instance import at

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

QUIET_SECONDS = 30.0


def test_a_failed_probe_leads_to_one_request_and_one_new_container(stage: Stage) -> None:
    stage.enhanced.settings(crr_ttlSeconds="20")
    stage.run(failing("web"), steady("other"))
    pod = stage.namespace.pod("web")
    assert "livenessProbe" not in pod["spec"]["containers"][0]
    (entry,) = json.loads(pod["metadata"]["annotations"][CONTEXT])
    assert entry["name"] == "app"
    probe = stage.entries()["web"]["probes"][0]
    assert (probe["name"], probe["probe"]["httpGet"]["port"]) == ("web-app", 8080)
    before = pod["status"]["containerStatuses"][0]["containerID"]
    stage.until(lambda: stage.requests("web"), "a request")
    (request,) = stage.requests("web")
    assert request["spec"]["containers"][0]["statusContext"]["containerID"] == before
    stage.until_restarted("web")
    name = request["metadata"]["name"]

    def is_completed() -> bool:
        found = [one for one in stage.requests("web") if one["metadata"]["name"] == name]
        return bool(found) and found[0]["status"].get("phase") == "Completed"

    stage.until(is_completed, "the request to be completed")
    (state,) = next(one for one in stage.requests("web") if one["metadata"]["name"] == name)["status"][
        "containerRecreateStates"
    ]
    assert (state["phase"], state["isKilled"]) == ("Succeeded", True)
    stage.until(lambda: stage.events("ELPRestarting"), "the event")
    assert "statuscode: 500" in stage.events("ELPRestarting")[0]["message"]
    assert stage.restarts("other") == 0
    stage.until(lambda: all(one["metadata"]["name"] != name for one in stage.requests()), "its collection", 180)


def test_the_way_over_the_controller_takes_longer_than_a_kubelet(stage: Stage) -> None:
    """docs/cluster/enhanced-liveness.md has the figures that it prints."""
    native = failing("native")
    del native["metadata"]["annotations"][OPT_IN]
    stage.namespace.create(native)
    stage.run(failing("web"))
    stage.until(lambda: stage.restarts("native") and stage.restarts("web"), "a restart of each")
    found = {name: seconds_to_the_signal(stage, name) for name in ("native", "web")}
    sys.stdout.write(f"from the last answer to the signal: {found}\n")
    assert min(found.values()) > 0, "no container is stopped before its threshold"


def seconds_to_the_signal(stage: Stage, name: str) -> float:
    """From the second bad answer, with which the probe has failed, to the signal that ended that life."""
    lines = stage.cluster.kubectl("logs", name, "-n", stage.namespace.name, "--previous").splitlines()
    notes = [json.loads(line) for line in lines]
    asked = [note for note in notes if note["what"] == "http"]
    (signal,) = [note for note in notes if note["what"] == "signal"]
    return at(signal) - at(asked[GOOD_ANSWERS + 1])


def test_a_recovery_before_the_restart_cancels_it(stage: Stage) -> None:
    """D-6, T-38: the node goes on probing after the failure."""
    stage.enhanced.settings(enabled="false")
    thing = failing("web")
    row = answers("l", "200x4,500x6,200", failureThreshold=2)
    thing["spec"]["containers"][0]["livenessProbe"] = row
    stage.run(thing)
    stage.until(lambda: stage.state("web") == "Failed", "the failure to be published")
    stage.until(lambda: stage.state("web") == "Succeeded", "the recovery to be published")
    stage.enhanced.settings(enabled="true")
    time.sleep(QUIET_SECONDS)
    assert (stage.requests(), stage.restarts("web")) == ([], 0)


def test_with_a_budget_at_zero_nothing_happens(stage: Stage) -> None:
    stage.namespace.create(budget("shop", 0), "policy/v1/poddisruptionbudgets")
    liveness = answers("l", FAILS, failureThreshold=2)
    stage.namespace.create(deployment("shop", 3, liveness, answers("r", "200")), "apps/v1/deployments")
    stage.until(lambda: len(stage.mapped()) == 3, "three entries")
    stage.until(lambda: stage.events("BudgetDenied"), "the refusal")
    time.sleep(QUIET_SECONDS)
    assert stage.requests() == []
    assert all(stage.restarts(one["metadata"]["name"]) == 0 for one in stage.namespace.pods())
    patch = {"spec": {"maxUnavailable": 1}}
    stage.cluster.api.patch(stage.namespace.path("policy/v1/poddisruptionbudgets", "shop"), patch)
    stage.until(lambda: stage.requests(), "a request once there is room")


def test_the_global_switch_counts_at_once(stage: Stage) -> None:
    """F-1: probing goes on, restarts do not."""
    stage.enhanced.settings(enabled="false")
    stage.run(failing("web"))
    stage.until(lambda: stage.state("web") == "Failed", "the failure to be published")
    stage.until(lambda: stage.events("SwitchedOff"), "the refusal")
    time.sleep(QUIET_SECONDS)
    assert stage.requests() == []
    stage.enhanced.settings(enabled="true")
    stage.until_restarted("web")


def test_without_detection_no_probe_is_made_until_it_is_on_again(stage: Stage) -> None:
    stage.enhanced.settings(detection="false")
    stage.namespace.create(failing("web"))
    stage.namespace.until_ready("web")
    time.sleep(QUIET_SECONDS)
    assert (answers_of(stage, "web"), stage.mapped(), stage.restarts("web")) == (0, set(), 0)
    stage.enhanced.settings(detection="true")
    stage.until_restarted("web")


def answers_of(stage: Stage, name: str) -> int:
    """How often a container was asked in the life that it is in."""
    lines = stage.cluster.kubectl("logs", name, "-n", stage.namespace.name).splitlines()
    return sum(json.loads(line)["what"] == "http" for line in lines)


def test_a_pod_that_opts_out_is_left_alone_and_in_again_is_restarted(stage: Stage) -> None:
    """F-1c, T-5."""
    stage.enhanced.settings(enabled="false")
    stage.run(failing("web"))
    path = stage.namespace.path("pods", "web")
    stage.cluster.api.patch(path, {"metadata": {"annotations": {"apps.kruise.io/using-enhanced-liveness": "false"}}})
    stage.until(lambda: not stage.mapped(), "the entry to go")
    stage.enhanced.settings(enabled="true")
    time.sleep(QUIET_SECONDS)
    assert (stage.requests(), stage.restarts("web")) == ([], 0)
    stage.cluster.api.patch(path, {"metadata": {"annotations": {"apps.kruise.io/using-enhanced-liveness": "true"}}})
    stage.until_restarted("web")
