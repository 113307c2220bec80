"""One failed probe: the order of the checks R-1 to R-X, and what each refusal waits for."""

from itertools import pairwise
from typing import Any

import pytest
from probelet.beside.guard.objects.node import GuardedNode
from probelet.beside.guard.objects.recreate_request import read_request
from probelet.beside.guard.restart.protocol.inputs import NodeChanged, RequestChanged
from probelet.beside.guard.restart.protocol.outputs import AnnotatePod, Create, Decision, Delete
from probelet.beside.guard.restart.protocol.reason import REASONS

from tests.unit.beside.guard.restart.rig import FAST, SECOND, Rig, TestPod


def rig(config: dict[str, str] | None = None, **fields: Any) -> tuple[Rig, TestPod]:
    """A cluster with a workload of ten pods, of which the first is the test's."""
    made = Rig({**FAST, **(config or {})}, **fields)
    pods = made.pods_of("web", 10)
    made.sync()
    made.run(10)
    return made, pods[0]


def test_a_failed_probe_leads_to_one_request() -> None:
    made, pod = rig()
    made.fail(pod, message="HTTP probe failed with statuscode: 503")
    made.run(60)
    [create] = made.creates
    assert create.body["spec"]["podName"] == "web-0"
    assert made.reasons() == ["Queued", "Restarting"]
    [event] = made.events("ELPRestarting")
    assert event.message == "container app: its liveness probe failed: HTTP probe failed with statuscode: 503"
    assert (event.regarding.name, event.type) == ("web-0", "Normal")
    assert made.in_flight == 0


def test_r1_other_states_and_other_names_are_ignored() -> None:
    made, pod = rig()
    made.heal(pod)
    made.set_state(pod, "app", "Unknown")
    made.publish(pod.node)
    foreign = made.probes_object(pod.node)
    foreign["spec"]["podProbes"][0]["probes"][0]["name"] = "ppm#check"
    foreign["status"]["podProbeStatuses"][0]["probeStates"][0] |= {"name": "ppm#check", "state": "Failed"}
    made.run(60)
    assert made.reasons() == []


@pytest.mark.parametrize(
    "change",
    [
        {"uid": "other"},
        {"node": "web-node-9"},
        {"phase": "Failed"},
        {"restart_policy": "OnFailure"},
    ],
)
def test_r2_a_pod_that_is_not_the_one_that_failed(change: dict[str, Any]) -> None:
    made, pod = rig()
    node = pod.node
    if "uid" in change:
        made.give(
            __import__("probelet.beside.guard.restart.protocol.inputs", fromlist=["PodChanged"]).PodChanged(
                pod.uid, None
            )
        )
    else:
        for name, value in change.items():
            setattr(pod, name, value)
        made.show(pod)
        pod.node = node
    made.fail(pod)
    made.run(60)
    assert set(made.reasons()) == {"PodGone"}
    assert made.creates == []


def test_r3_a_pod_that_opted_out() -> None:
    made, pod = rig()
    made.fail(pod)
    made, pod = rig({"rate.tokensPerMinute": "1"})
    made.fail(pod)
    assert made.queued == 1
    pod.opt_in = "false"
    made.show(pod)
    assert made.last("web-0").reason == "OptedOut"
    assert made.queued == 0
    made.run(120)
    assert made.creates == []


def test_r4_t41_a_result_that_is_too_old() -> None:
    made, pod = rig({"rate.tokensPerMinute": "1"})
    made.fail(pod)
    made.run(10)
    made.configure({"enabled": "false"})
    made.run(241)
    made.configure(FAST)
    assert made.last("web-0").reason == "Stale"
    made.run(60)
    assert made.creates == []
    made.fail(pod)
    made.run(10)
    assert made.created_pods == ["web-0"], "a new result is fresh again"


def test_r4_the_limit_follows_the_period_the_heartbeat_and_the_setting() -> None:
    for config, options, period, least, most in (
        ({}, {}, 10, 239, 241),
        ({}, {}, 100, 360, 362),
        ({}, {"heartbeat_ns": 600 * SECOND}, 10, 659, 661),
        ({"staleAfter": "30s"}, {}, 10, 30, 31),
    ):
        for wait, expected in ((least, "Queued"), (most, "Stale")):
            made, pod = rig({"enabled": "false", **config}, **options)
            pod.probe = {"periodSeconds": period}
            made.fail(pod)
            made.run(wait)
            made.configure({**FAST, **config})
            assert expected in made.reasons("web-0"), (config, options, period, wait)


def test_r5_a_result_that_is_older_than_the_container() -> None:
    made, pod = rig()
    made.fail(pod)
    made, pod = rig({"rate.tokensPerMinute": "1"})
    made.fail(pod)
    made.run(5)
    pod.started["app"] = made.now
    pod.restarts["app"] = 1
    made.show(pod)
    assert made.last("web-0").reason == "OldInstance"
    made.run(120)
    assert made.creates == []


def test_r5_a_container_that_does_not_run() -> None:
    made, pod = rig({"rate.tokensPerMinute": "1"})
    made.fail(pod)
    del pod.started["app"]
    made.show(pod)
    assert made.last("web-0").reason == "NotRunning"


def test_f6_a_node_that_is_not_ready() -> None:
    made, pod = rig()
    made.give(NodeChanged(pod.node, GuardedNode(pod.node, is_ready=False)))
    made.fail(pod)
    made.run(30)
    assert made.reasons() == ["NodeNotReady"]
    made.give(NodeChanged(pod.node, GuardedNode(pod.node)))
    made.run(30)
    assert made.created_pods == ["web-0"]


@pytest.mark.parametrize(
    ("excluded", "is_hit"),
    [
        ("- namespace: default", True),
        ("- namespace: other", False),
        ("- workloadKind: StatefulSet\n  workloadName: web", True),
        ("- workloadKind: Deployment\n  workloadName: web", False),
        ("- pod: web-0\n- pod: web-1", True),
        ("- node: web-node-0", True),
        ('[{"labelSelector": {"matchLabels": {"app": "web"}}}]', True),
        ("- labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}", False),
        ("- {}", False),
        ("- namespace: default\n  pod: other", False),
    ],
)
def test_r6_blacklist(excluded: str, is_hit: bool) -> None:
    made, pod = rig({"blacklist": excluded})
    made.fail(pod)
    made.run(60)
    assert (made.reasons("web-0")[0] == "Blacklisted") == is_hit
    assert len(made.creates) == (not is_hit)


def test_r6_backoff_doubles_and_asks_again_when_it_is_over() -> None:
    made, pod = rig(restart_seconds=1)
    made.bad = {pod.name}
    made.fail(pod)
    made.heartbeats(600)
    made.run(200)
    gaps = [later - earlier for earlier, later in pairwise(made.created_at)]
    assert "Backoff" in made.reasons()
    said = {each.message for each in made.of(Decision) if each.reason == "Backoff"}
    assert "restarted or tried not long ago: the delay is 10 s" in said
    assert gaps[:4] == [10, 20, 40, 80]


def test_r14_success_for_the_reset_time_begins_the_delay_anew() -> None:
    made, pod = rig({"backoff.reset": "60s", "backoff.base": "40s"}, restart_seconds=1)
    for _ in range(3):
        made.fail(pod)
        made.run(10)
        made.heal(pod)
        made.run(70)
    assert len(made.creates) == 3
    made.fail(pod)
    assert "Backoff" not in made.reasons()


def test_r6_hourly_cap() -> None:
    made, pod = rig({"maxRestartsPerHour": "2", "backoff.max": "10s"}, restart_seconds=1)
    for _ in range(4):
        made.fail(pod)
        made.run(60)
    assert len(made.creates) == 2
    assert made.last("web-0").reason == "HourlyCap"
    made.fail(pod)
    made.heartbeats(7200)
    made.run(3500)
    assert len(made.creates) == 3, "an hour after the first one"


@pytest.mark.parametrize("is_ours", [True, False])
def test_r7_one_request_for_a_pod_at_a_time(is_ours: bool) -> None:
    made, pod = rig()
    body = {
        "metadata": {
            "name": "by-hand",
            "namespace": "default",
            "uid": "c",
            "labels": {"crr.apps.kruise.io/pod-uid": pod.uid, **({"elp.kruise.io/managed": "true"} if is_ours else {})},
            "annotations": {"elp.kruise.io/probe": "web-0-app"},
            "creationTimestamp": made.at(made.now),
        },
        "spec": {"podName": "web-0", "containers": [{"name": "app"}]},
        "status": {"phase": "Recreating"},
    }
    made.give(RequestChanged(("default", "by-hand"), read_request(body)))
    made.fail(pod)
    made.run(30)
    assert (set(made.reasons()), made.creates) == (set() if is_ours else {"PodBusy"}, [])
    done = {**body, "status": {"phase": "Completed", "completionTime": made.at(made.now)}}
    made.give(RequestChanged(("default", "by-hand"), read_request(done)))
    made.run(65)
    assert made.created_pods == ["web-0"]


def test_r11_t36_containers_one_after_the_other_the_second_only_if_it_still_fails() -> None:
    for heals in (True, False):
        made = Rig({**FAST, "enabled": "false"}, restart_seconds=5)
        made.workload("web", 10)
        pod = made.pod("web-0", containers=("a", "b"))
        made.sync()
        made.run(10)
        made.fail(pod, container="b")
        made.run(2)
        made.fail(pod, container="a")
        made.configure(FAST)
        made.run(6)
        first = made.creates[0].body["spec"]["containers"][0]["name"]
        assert first == "b", "the one that has failed longest"
        assert "PodBusy" in made.reasons()
        made.run(10)
        assert made.last("web-0").reason == "Reevaluating"
        if heals:
            made.heal(pod, container="a")
        else:
            made.fail(pod, container="a")
        made.run(60)
        restarted = [each.body["spec"]["containers"][0]["name"] for each in made.creates]
        assert restarted == (["b"] if heals else ["b", "a"])


def test_r11_equally_old_failures_go_in_the_order_of_the_containers() -> None:
    made = Rig(FAST)
    made.workload("web", 10)
    pod = made.pod("web-0", containers=("x", "a"))
    made.sync()
    made.set_state(pod, "a", "Failed")
    made.set_state(pod, "x", "Failed")
    made.publish(pod.node)
    made.run(6)
    assert made.creates[0].body["spec"]["containers"][0]["name"] == "x"


def test_t38_a_probe_that_recovers_while_it_waits_is_dropped() -> None:
    made, pod = rig({"rate.tokensPerMinute": "1"})
    made.fail(pod)
    assert made.queued == 1
    made.heal(pod)
    assert (made.queued, made.last("web-0").reason) == (0, "Recovered")
    made.run(300)
    assert made.creates == []


def test_r_x_every_condition_is_asked_again_when_the_token_is_there() -> None:
    made, pod = rig({"rate.tokensPerMinute": "1"})
    made.fail(pod)
    made.pdb(status={"disruptionsAllowed": 0, "currentHealthy": 10, "desiredHealthy": 10})
    made.run(100)
    assert made.creates == []
    assert made.last("web-0").reason == "BudgetDenied"


def test_dry_run_decides_and_creates_nothing() -> None:
    made, pod = rig({"dryRun": "true"})
    made.fail(pod)
    made.run(5)
    assert made.reasons() == ["Queued", "DryRun"]
    [event] = made.events("DryRun")
    assert "would" not in event.message
    assert "dryRun" in event.message
    made.fail(pod)
    made.run(100)
    assert made.creates == []
    assert made.reasons().count("DryRun") < 6, "a restart that is only said has a back-off, too"


def test_f13_a_refused_create_has_a_backoff_and_an_event() -> None:
    made, pod = rig()
    made.answer = {Create: "refused"}
    made.fail(pod)
    made.heartbeats(600)
    made.run(300)
    assert "CreateRejected" in made.reasons()
    assert len(made.events("ELPCreateRejected")) >= 1
    assert 3 <= len(made.creates) <= 6, "10, 20, 40, 80, 160 s between them"
    assert made.in_flight == 0


def test_r14_a_failed_request_is_said_counts_for_the_backoff_and_is_replaced() -> None:
    made, pod = rig(serves=False)
    made.fail(pod)
    made.run(6)
    [key] = made.requests
    made.finish(key, succeeded=False, message="daemon has not responded for a long time")
    [event] = made.events("ELPRestartFailed")
    assert "daemon has not responded" in event.message
    made.serves = True
    made.heartbeats(600)
    made.run(200)
    assert [each.key for each in made.of(Delete)][:1] == [key], "the container is the same, so the name is, too"
    assert made.created_pods == ["web-0", "web-0"]


def test_r15_the_last_decision_as_an_annotation_if_it_is_wanted() -> None:
    made, pod = rig({"annotatePods": "true"})
    made.fail(pod)
    made.run(5)
    [patch] = made.of(AnnotatePod)
    assert '"reason":"Restarting"' in patch.patch["metadata"]["annotations"]["elp.kruise.io/last-decision"]
    made, pod = rig()
    made.fail(pod)
    made.run(5)
    assert made.of(AnnotatePod) == []


def test_every_decision_has_a_known_reason_and_a_text() -> None:
    made, pod = rig({"rate.tokensPerMinute": "1"})
    made.fail(pod)
    made.run(120)
    for decision in made.of(Decision):
        assert decision.reason in REASONS
        assert decision.message
