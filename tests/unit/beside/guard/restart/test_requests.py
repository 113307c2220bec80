"""The request that is created, and the collection of requests that are over."""

from typing import Any

import pytest
from probelet.beside.guard.objects.recreate_request import read_request
from probelet.beside.guard.restart.protocol.inputs import RequestChanged
from probelet.beside.guard.restart.protocol.outputs import Delete, Finished

from tests.unit.beside.guard.restart.rig import FAST, SECOND, Rig, TestPod


def body(config: dict[str, str] | None = None, *, name: str = "web-0", **fields: Any) -> dict[str, Any]:
    """The request for a pod of ten."""
    options = {key: fields.pop(key) for key in ("fills_context",) if key in fields}
    made = Rig({**FAST, **(config or {})}, **options)
    made.workload("web", 10)
    pod = made.pod(name, **fields)
    made.sync()
    made.run(10)
    made.fail(pod, message="m" * 1000)
    made.run(10)
    created: dict[str, Any] = made.creates[0].body
    return created


def test_every_field() -> None:
    """3B.5."""
    created = body()
    name = created["metadata"].pop("name")
    assert created == {
        "apiVersion": "apps.kruise.io/v1alpha1",
        "kind": "ContainerRecreateRequest",
        "metadata": {
            "namespace": "default",
            "labels": {
                "crr.apps.kruise.io/pod-uid": "uid-web-0",
                "crr.apps.kruise.io/node-name": "node1",
                "crr.apps.kruise.io/active": "true",
                "elp.kruise.io/managed": "true",
                "crr.apps.kruise.io/pod-name": "web-0",
            },
            "annotations": {
                "elp.kruise.io/probe": "web-0-app",
                "elp.kruise.io/failure": "m" * 256,
                "elp.kruise.io/failed-since": "2026-11-18T11:06:50Z",
                "elp.kruise.io/decision": name.removeprefix("web-0-"),
            },
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": "web-0",
                    "uid": "uid-web-0",
                    "controller": True,
                    "blockOwnerDeletion": False,
                }
            ],
        },
        "spec": {
            "podName": "web-0",
            "containers": [
                {"name": "app", "statusContext": {"containerID": "containerd://uid-web-0-app-0", "restartCount": 0}}
            ],
            "strategy": {"failurePolicy": "Fail"},
            "activeDeadlineSeconds": 330,
            "ttlSecondsAfterFinished": 600,
        },
    }


def test_a_webhook_fills_the_context_where_there_is_one() -> None:
    assert body(fills_context=False)["spec"]["containers"] == [{"name": "app"}]


@pytest.mark.parametrize(
    ("config", "probe", "grace", "deadline"),
    [
        ({}, {}, None, 330),
        ({}, {"terminationGracePeriodSeconds": 5}, 5, 305),
        ({"crr.gracePeriodSeconds": "1"}, {}, 1, 301),
        ({"crr.gracePeriodSeconds": "1"}, {"terminationGracePeriodSeconds": 5}, 5, 305),
        ({"crr.activeDeadlineSeconds": "77"}, {}, None, 77),
    ],
)
def test_t43_r10_the_grace_period(
    config: dict[str, str], probe: dict[str, Any], grace: int | None, deadline: int
) -> None:
    spec = body(config, probe=probe)["spec"]
    assert spec["strategy"].get("terminationGracePeriodSeconds") == grace
    assert spec["activeDeadlineSeconds"] == deadline


def test_an_unready_grace_period_only_with_the_readiness_gate() -> None:
    config = {"crr.unreadyGracePeriodSeconds": "7"}
    assert "unreadyGracePeriodSeconds" not in body(config)["spec"]["strategy"]
    spec = body(config, gates=("KruisePodReady",))["spec"]
    assert (spec["strategy"]["unreadyGracePeriodSeconds"], spec["activeDeadlineSeconds"]) == (7, 337)


def test_t42_a_long_name_is_cut_and_its_label_left_out() -> None:
    meta = body(name="p" * 253)["metadata"]
    assert len(meta["name"]) == 253
    assert "crr.apps.kruise.io/pod-name" not in meta["labels"]
    dotted = body(name="p" * 239 + ".q" + "r" * 12)["metadata"]["name"]
    assert ".-" not in dotted
    assert len(body(name="p" * 200)["metadata"]["name"]) <= 253


def test_the_same_instance_gets_the_same_name_and_another_one_another() -> None:
    assert body()["metadata"]["name"] == body()["metadata"]["name"]
    assert body(restarts={"app": 1})["metadata"]["name"] != body()["metadata"]["name"]
    assert body(uid="other")["metadata"]["name"] != body()["metadata"]["name"]


# Collection.


def made_request(made: Rig, pod: TestPod, name: str, *, ours: bool = True, **fields: Any) -> None:
    labels = {"crr.apps.kruise.io/pod-uid": pod.uid} | ({"elp.kruise.io/managed": "true"} if ours else {})
    obj = {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "labels": labels,
            "annotations": {"elp.kruise.io/probe": f"{pod.name}-app"},
            "creationTimestamp": made.at(made.now),
        },
        "spec": {"podName": pod.name, "containers": [{"name": "app"}], "ttlSecondsAfterFinished": 100},
        **fields,
    }
    made.requests[("default", name)] = obj
    made.give(RequestChanged(("default", name), read_request(obj)))


def test_t40_r13_collection() -> None:
    made = Rig(FAST)
    pods = made.pods_of("web", 5)
    made.sync()
    done = {"phase": "Completed", "completionTime": made.at(0)}
    made_request(made, pods[0], "old", status=done)
    made_request(made, pods[0], "foreign", ours=False, status=done)
    made_request(made, pods[1], "pod-gone")
    made_request(made, pods[2], "busy-gone", status={"phase": "Recreating"})
    made_request(made, pods[3], "probe-gone", status={"phase": "Pending"})
    made_request(made, pods[4], "live")
    made.gone(pods[1])
    made.gone(pods[2])
    pods[3].containers = ()
    made.publish(pods[3].node)
    made.run(61)
    assert {each.key[1]: each.why for each in made.of(Delete)} == {
        "pod-gone": "its pod is gone",
        "probe-gone": "its probe is gone",
    }
    made.run(60)
    assert [each.key[1] for each in made.of(Delete)][2:] == ["old"]
    assert set(key[1] for key in made.requests) == {"foreign", "busy-gone", "live"}
    assert all(each.uid == f"uid-{each.key[1]}" for each in made.of(Delete))


def test_a_deletion_that_does_not_happen_is_tried_again() -> None:
    made = Rig(FAST, serves=False)
    [pod] = made.pods_of("web", 1)
    made.sync()
    made_request(made, pod, "old")
    made.gone(pod)
    made.run(200)
    assert len(made.of(Delete)) == 3


def test_r17_the_duration_of_a_request() -> None:
    made = Rig(FAST, restart_seconds=30)
    pods = made.pods_of("web", 10)
    made.sync()
    made.run(10)
    made.fail(pods[0])
    made.run(60)
    assert made.of(Finished) == [Finished(has_succeeded=True, duration_ns=32 * SECOND)]
