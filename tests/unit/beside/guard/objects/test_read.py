"""Objects of an API server as structs."""

from typing import Any

import msgspec
import pytest
from probelet.beside.guard.names import CONTEXT, OPT_IN
from probelet.beside.guard.objects.budget import read_disruption_budget, read_unavailable_budget
from probelet.beside.guard.objects.moment import nanoseconds, text
from probelet.beside.guard.objects.node import GuardedNode, read_node, read_workload
from probelet.beside.guard.objects.node_probes import cut, read_node_probes
from probelet.beside.guard.objects.pod import read_pod
from probelet.beside.guard.objects.probe_name import is_ours, probe_name, was_ours
from probelet.beside.guard.objects.recreate_request import read_request

from tests.unit.beside.guard.kubernetes_objects import pod_object

SECOND = 1_000_000_000


def test_a_pod_without_the_annotations_is_not_kept() -> None:
    assert read_pod(pod_object(opt_in=None, context=None)) is None
    assert read_pod({"metadata": {}}) is None
    assert read_pod({"metadata": {"annotations": None}}) is None


def test_a_pod_that_opted_out_is_kept_for_its_context() -> None:
    found = read_pod(pod_object(opt_in="yes"))
    assert found is not None
    assert not found.is_opted_in


def test_a_pod_as_an_api_server_gives_it() -> None:
    obj = pod_object()
    obj["spec"] |= {"terminationGracePeriodSeconds": 7, "hostNetwork": True, "nodeName": "n", "unknown": {"a": 1}}
    obj["spec"]["readinessGates"] = [{"conditionType": "KruisePodReady"}]
    obj["spec"]["containers"][0]["startupProbe"] = {"exec": {"command": ["x"]}}
    obj["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "X", "name": "other", "uid": "1"},
        {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet", "name": "web", "uid": "2", "controller": True},
    ]
    obj["metadata"]["annotations"] |= {"kruise.io/related-pub": "old", "pub.kruise.io/related-pub": "new"}
    obj["status"] |= {
        "conditions": [{"type": "Ready", "status": "True", "lastProbeTime": None}],
        "containerStatuses": [
            {
                "name": "c1",
                "containerID": "containerd://a",
                "restartCount": 3,
                "ready": True,
                "state": {"running": {"startedAt": "2026-11-22T10:00:00Z"}},
                "lastState": {"terminated": {"exitCode": 137}},
            },
            {"name": "c2", "state": {"waiting": {"reason": "CrashLoopBackOff"}}},
        ],
    }
    found = read_pod(obj)
    assert found is not None
    assert (found.grace_seconds, found.is_on_host_network, found.has_readiness_gate) == (7, True, True)
    assert (found.is_ready, found.budget) == (True, "new")
    assert found.owner is not None
    assert (found.owner.group, found.owner.kind, found.owner.name) == ("apps.kruise.io", "CloneSet", "web")
    first, second = found.containers
    assert (first.container_id, first.restart_count, first.is_ready) == ("containerd://a", 3, True)
    assert first.started_ns == nanoseconds("2026-11-22T10:00:00Z")
    assert (first.has_startup_probe, first.ports) == (True, (("web", 8080),))
    assert (second.container_id, second.started_ns) == ("", None)


def test_a_value_of_a_wrong_type_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError):
        read_pod({"metadata": {"annotations": {OPT_IN: "true", CONTEXT: "[]"}}, "spec": {"containers": 5}})


def node_probe(naming_name: str) -> dict[str, Any]:
    identity = {"name": "web-0", "namespace": "default", "uid": "u"}
    probe = {"periodSeconds": 7, "timeoutSeconds": 2, "terminationGracePeriodSeconds": 9}
    return {
        "metadata": {"name": "n", "generation": 3},
        "spec": {
            "podProbes": [
                {"name": "other", "namespace": "x", "uid": "o", "IP": "", "probes": []},
                {
                    **identity,
                    "IP": "1.1.1.1",
                    "probes": [
                        {"name": "ppm#a", "containerName": "app", "probe": {}},
                        {"name": naming_name, "containerName": "app", "probe": probe},
                    ],
                },
            ]
        },
        "status": {
            "podProbeStatuses": [
                {
                    **identity,
                    "probeStates": [
                        {"name": "ppm#a", "state": "Failed"},
                        {
                            "name": naming_name,
                            "state": "Failed",
                            "lastProbeTime": "2026-11-22T10:00:09Z",
                            "lastTransitionTime": "2026-11-22T10:00:00Z",
                            "message": "ä" * 300,
                        },
                    ],
                }
            ]
        },
    }


@pytest.mark.parametrize(("naming", "name"), [("seed", "web-0-app"), ("coexist", "enhanced-liveness_#app")])
def test_only_our_probes_are_kept(naming: Any, name: str) -> None:
    probes = read_node_probes(node_probe(name), naming)
    assert probes.node == "n"
    assert list(probes.pods) == ["u"]
    [state] = probes.pods["u"].probes
    assert (state.name, state.container, state.state) == (name, "app", "Failed")
    assert (state.period_seconds, state.timeout_seconds, state.grace_seconds) == (7, 2, 9)
    assert state.probed_ns - state.since_ns == 9 * SECOND
    assert state.message == "ä" * 128, "S-5: 256 bytes, and no half character"


def test_an_unknown_state_is_unknown_and_a_missing_one_too() -> None:
    obj = node_probe("web-0-app")
    obj["status"]["podProbeStatuses"][0]["probeStates"][1]["state"] = "Confused"
    assert read_node_probes(obj, "seed").pods["u"].probes[0].state == "Unknown"
    del obj["status"]
    assert read_node_probes(obj, "seed").pods["u"].probes[0].state == "Unknown"


def test_names() -> None:
    assert probe_name("seed", "pod", "app") == "pod-app"
    assert is_ours("seed", "pod", "app", "pod-app")
    assert not is_ours("seed", "pod", "app", "pod-other")
    assert not is_ours("coexist", "pod", "app", "pod-app")
    assert was_ours("pod", "app", "pod-app")
    assert was_ours("pod", "app", "enhanced-liveness_#app")
    assert not was_ours("pod", "app", "ppm#app")


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1"])
def test_a_request_of_either_version(version: str) -> None:
    obj = {
        "apiVersion": f"apps.kruise.io/{version}",
        "metadata": {
            "name": "r",
            "namespace": "n",
            "uid": "u",
            "labels": {"crr.apps.kruise.io/pod-uid": "p", "elp.kruise.io/managed": "true"},
            "creationTimestamp": "2026-11-22T10:00:00Z",
        },
        "spec": {
            "podName": "web-0",
            "containers": [{"name": "app", "statusContext": {"containerID": "c", "restartCount": 4}}],
            "ttlSecondsAfterFinished": 5,
        },
        "status": {
            "phase": "Completed",
            "completionTime": "2026-11-22T10:00:30Z",
            "containerRecreateStates": [{"name": "app", "phase": "Succeeded", "isKilled": True}],
        },
    }
    request = read_request(obj)
    assert (request.pod_uid, request.is_ours, request.is_live, request.has_succeeded) == ("p", True, False, True)
    assert (request.container, request.instance.container_id, request.instance.restart_count) == ("app", "c", 4)
    assert (request.completed_ns or 0) - request.created_ns == 30 * SECOND
    new = read_request({"metadata": {"name": "r", "namespace": "n"}, "spec": {"podName": "x", "containers": []}})
    assert (new.is_live, new.is_ours, new.phase) == (True, False, "")


def test_budgets() -> None:
    pdb = read_disruption_budget(
        {
            "metadata": {"name": "b", "namespace": "n", "generation": 2, "resourceVersion": "7"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}, "unhealthyPodEvictionPolicy": "AlwaysAllow"},
            "status": {
                "observedGeneration": 2,
                "disruptionsAllowed": 1,
                "currentHealthy": 3,
                "desiredHealthy": 2,
                "expectedPods": 3,
                "disruptedPods": {"p": "2026-11-22T10:00:00Z"},
            },
        }
    )
    assert (pdb.allowed, pdb.healthy, pdb.desired, pdb.reserved) == (1, 3, 2, frozenset({"p"}))
    assert (pdb.has_status, pdb.is_current, pdb.unready) == (True, True, "AlwaysAllow")
    stale = read_disruption_budget({"metadata": {"generation": 2}, "status": {"observedGeneration": 1}})
    assert (stale.has_status, stale.is_current) == (True, False)
    pub = read_unavailable_budget(
        {
            "metadata": {"name": "b", "namespace": "n", "generation": 1},
            "spec": {"targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
            "status": {"observedGeneration": 1, "unavailableAllowed": 2, "unavailablePods": {"q": None}},
        }
    )
    assert (pub.allowed, pub.reserved, pub.protects_updates) == (2, frozenset({"q"}), True)
    assert not read_unavailable_budget({"metadata": {"name": "b"}}).has_status


def test_nodes_and_workloads() -> None:
    node = {"metadata": {"name": "n"}, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    assert read_node(node) == GuardedNode("n", is_ready=False)
    virtual = {"metadata": {"name": "n", "labels": {"type": "virtual-kubelet"}}}
    assert read_node(virtual).is_virtual
    assert read_workload({"metadata": {}, "spec": {"replicas": 0}}, "apps/v1", "Deployment").replicas == 0
    daemons = read_workload({"metadata": {}, "status": {"desiredNumberScheduled": 9}}, "apps/v1", "DaemonSet")
    assert daemons.replicas == 9


def test_moments() -> None:
    assert nanoseconds("2026-11-22T10:00:00.123456Z") == nanoseconds("2026-11-22T10:00:00.123Z")
    assert nanoseconds(None) is nanoseconds("") is nanoseconds("yesterday") is None
    moment = nanoseconds("2026-11-22T10:00:00Z")
    assert moment is not None
    assert text(moment + 999_999_999) == "2026-11-22T10:00:00Z"


def test_messages_are_cut_between_characters() -> None:
    assert cut("a" + "ä" * 200) == "a" + "ä" * 127
