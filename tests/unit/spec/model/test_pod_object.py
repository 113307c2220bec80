"""The narrow reader of pods: each view of one pod, and what a server or a person may leave out of it."""

from typing import Any

import msgspec
import pytest
from probelet.beside.guard.objects.pod import guarded_of
from probelet.beside.guard.objects.requested_pod import read_requested_pod
from probelet.beside.pods.api_pod import api_pod
from probelet.beside.takeover.taken_pod import TakenPod, taken_of
from probelet.beside.takeover.view import view
from probelet.spec.model.pod_object import read_pod_object

POD: dict[str, Any] = {
    "metadata": {
        "name": "web-0",
        "namespace": "shop",
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": None,
        "labels": {"probelet.dev/managed": "true"},
        "annotations": {"probelet.dev/probes": "{}", "apps.kruise.io/using-enhanced-liveness": "true"},
        "managedFields": [{"manager": "kubelet"}],
    },
    "spec": {
        "nodeName": "n",
        "readinessGates": [{"conditionType": "probelet.dev/ready"}],
        "containers": [
            {
                "name": "app",
                "ports": [{"name": "web", "containerPort": 8080, "protocol": "TCP"}, {"containerPort": 1}],
                "lifecycle": {"preStop": {"exec": {"command": ["x"]}}},
                "livenessProbe": {"tcpSocket": {"port": "web"}, "futureField": [1]},
            }
        ],
        "initContainers": [{"name": "side", "restartPolicy": "Always", "startupProbe": {"exec": {}}}],
    },
    "status": {
        "phase": "Running",
        "podIP": "10.0.0.1",
        "conditions": [{"type": "probelet.dev/ready", "status": "True", "lastProbeTime": None}],
        "containerStatuses": [
            {
                "name": "app",
                "containerID": "containerd://a",
                "restartCount": 3,
                "ready": True,
                "started": True,
                "state": {"running": {"startedAt": "2026-11-22T10:00:00Z"}},
            }
        ],
    },
}


def test_one_reading_serves_every_view() -> None:
    pod = read_pod_object(POD)
    guarded = guarded_of(pod)
    assert guarded is not None
    assert (guarded.node, guarded.ip, guarded.container("app")) == ("n", "10.0.0.1", guarded.containers[0])
    assert (guarded.containers[0].ports, guarded.containers[0].restart_count) == ((("web", 8080),), 3)
    assert taken_of(pod) == TakenPod("shop", "web-0", "u", "n", True)
    seen = api_pod(POD, "n")
    assert seen is not None
    assert (seen.containers["app"].id, seen.containers["app"].started) == ("containerd://a", True)
    assert seen.condition is not None
    requested = read_requested_pod(POD)
    assert requested.containers[0].pre_stop == {"exec": {"command": ["x"]}}
    assert requested.containers[0].ports == tuple(POD["spec"]["containers"][0]["ports"])
    written = view(POD)
    assert [(place.name, list(place.container.probes)) for place in written.places()] == [
        ("side", ["startup"]),
        ("app", ["liveness"]),
    ]
    assert list(written.places())[1].container.liveness_probe == {"tcpSocket": {"port": "web"}, "futureField": [1]}


@pytest.mark.parametrize("part", ["labels", "annotations", "ownerReferences", "deletionTimestamp"])
def test_null_in_the_metadata_means_unset(part: str) -> None:
    pod = read_pod_object({**POD, "metadata": {**POD["metadata"], part: None}})
    assert pod.spec.node_name == "n"


@pytest.mark.parametrize("part", list(POD["spec"]))
def test_null_in_the_spec_means_unset(part: str) -> None:
    pod = {**POD, "spec": {**POD["spec"], part: None}, "status": None}
    guarded = guarded_of(read_pod_object(pod))
    assert guarded is not None
    assert guarded.restart_policy == "Always"
    assert view(pod).is_managed


@pytest.mark.parametrize("part", ["namespace", "name", "uid"])
def test_a_pod_of_an_api_server_has_an_identity(part: str) -> None:
    pod = {**POD, "metadata": {key: value for key, value in POD["metadata"].items() if key != part}}
    with pytest.raises(msgspec.ValidationError):
        api_pod(pod, "n")
    with pytest.raises(msgspec.ValidationError):
        taken_of(read_pod_object(pod))
