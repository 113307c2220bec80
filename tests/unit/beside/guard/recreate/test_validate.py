"""The admission of requests: OpenKruise's own cases by name, every refusal with its words, and what is injected."""

from typing import Any

import pytest
from probelet.beside.guard.names import ACTIVE, MANAGED, NODE_NAME, POD_UID, UNREADY_ACQUIRED
from probelet.beside.guard.objects.requested_pod import RequestedPod
from probelet.beside.guard.recreate.validate import Injected, Refused, check, check_pod, check_update, inject

from tests.unit.beside.guard.recreate.made_request import made_pod, request_object

Json = dict[str, Any]


def written(*containers: str, labels: Json | None = None, **spec: Any) -> Json:
    """A request as a user writes it."""
    listed = [{"name": each} for each in containers or ("app",)]
    return {
        "metadata": {"name": "again", "labels": labels or {}},
        "spec": {"podName": "web", "containers": listed, **spec},
    }


def injected(request: Json, pod: RequestedPod | None = None, **given: Any) -> Injected:
    found = inject(request, pod or made_pod(), given.pop("node", {}), **given)
    assert isinstance(found, Injected), found
    return found


def refusal(request: Json, pod: RequestedPod | None = None, **given: Any) -> Refused:
    found = inject(request, pod or made_pod(), {}, **given)
    assert isinstance(found, Refused), found
    return found


def test_upstream_create_valid() -> None:
    request = written()
    assert check(request) is None
    assert check_pod("web", made_pod()) is None
    found = injected(request)
    assert found.labels == {ACTIVE: "true", NODE_NAME: "worker-1", POD_UID: "uid-web"}
    assert found.spec == {
        "podName": "web",
        "containers": [{"name": "app", "statusContext": {"containerID": "containerd://old-app", "restartCount": 0}}],
        "strategy": {"failurePolicy": "Fail", "terminationGracePeriodSeconds": 30},
    }


def test_what_the_user_chose_stays() -> None:
    strategy = {"failurePolicy": "Ignore", "terminationGracePeriodSeconds": 0, "orderedRecreate": True}
    found = injected(written(strategy=strategy, ttlSecondsAfterFinished=5, labels={"mine": "1"}))
    assert found.spec["strategy"] == strategy
    assert found.spec["ttlSecondsAfterFinished"] == 5
    assert found.labels["mine"] == "1"


HTTP = {"httpGet": {"path": "/bye", "port": "web"}}
PORTS = [{"name": "web", "containerPort": 80}]


@pytest.mark.parametrize(
    ("hook", "fields"),
    [
        ({"exec": {"command": ["x"]}}, {"preStop": {"exec": {"command": ["x"]}}}),
        (HTTP, {"preStop": HTTP, "ports": PORTS}),
        ({"sleep": {"seconds": 5}}, {}),
    ],
)
def test_the_hook_of_the_pod_is_injected_and_the_ports_that_an_http_hook_may_name(hook: Json, fields: Json) -> None:
    container = {"name": "app", "ports": PORTS, "lifecycle": {"preStop": hook}}
    [found] = injected(written(), made_pod(spec={"containers": [container]})).spec["containers"]
    assert {key: found[key] for key in found if key not in ("name", "statusContext")} == fields


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"podName": ""}, "podName can not be empty"),
        ({"containers": []}, "containers list can not be null"),
        ({"activeDeadlineSeconds": 2}, "activeDeadlineSeconds can not be less than 3s"),
        (
            {"strategy": {"terminationGracePeriodSeconds": -1}},
            "terminationGracePeriodSeconds must be non-negative integer",
        ),
        ({"strategy": {"unreadyGracePeriodSeconds": -1}}, "unreadyGracePeriodSeconds must be non-negative integer"),
        ({"strategy": {"failurePolicy": "Retry"}}, "unknown failurePolicy Retry"),
    ],
)
def test_upstream_create_with_a_mistake(change: Json, message: str) -> None:
    request = written()
    request["spec"] |= change
    assert check(request) == Refused(400, message)


def test_the_least_values_are_accepted() -> None:
    request = written()
    request["spec"] |= {
        "activeDeadlineSeconds": 3,
        "strategy": {"terminationGracePeriodSeconds": 0, "unreadyGracePeriodSeconds": 0, "failurePolicy": "Ignore"},
    }
    assert check(request) is None


@pytest.mark.parametrize(
    "spec", [7, {"podName": 7}, {"containers": "app"}, {"activeDeadlineSeconds": "5"}, {"strategy": []}]
)
def test_a_request_with_other_types_is_refused_with_the_field(spec: Any) -> None:
    found = check({"metadata": {"name": "again"}, "spec": spec})
    assert found is not None
    assert found.code == 400
    assert found.message.startswith("request.object is no ContainerRecreateRequest: ")


@pytest.mark.parametrize(
    ("pod", "message"),
    [
        (None, "no found Pod named web"),
        ({"phase": "Succeeded"}, "not allowed to recreate containers in an inactive Pod"),
        ({"is_terminating": True}, "not allowed to recreate containers in an inactive Pod"),
        ({"spec": {"nodeName": ""}}, "not allowed to recreate containers in a pending Pod"),
    ],
)
def test_upstream_create_for_a_pod_that_cannot(pod: Json | None, message: str) -> None:
    assert check_pod("web", None if pod is None else made_pod(**pod)) == Refused(400, message)


def test_a_pod_whose_sidecars_openkruise_ends_may_be_inactive() -> None:
    pod = made_pod(phase="Succeeded", conditions=[{"type": "SidecarTerminated", "status": "True"}])
    assert check_pod("web", pod) is None


@pytest.mark.parametrize(
    ("containers", "message"),
    [
        ([{"name": "app"}, {"name": "app"}], "can not recreate app multi times"),
        ([{"name": "init"}], "container init not found in Pod"),
        ([{"name": "app", "preStop": {}}], "preStop, ports, statusContext in container are ready-only fields"),
        ([{"name": "app", "ports": []}], "preStop, ports, statusContext in container are ready-only fields"),
        ([{"name": "app", "statusContext": {}}], "preStop, ports, statusContext in container are ready-only fields"),
    ],
)
def test_containers_that_are_refused(containers: list[Json], message: str) -> None:
    request = written()
    request["spec"]["containers"] = containers
    assert refusal(request) == Refused(400, message)


def test_a_container_without_an_instance_is_refused() -> None:
    pod = made_pod(containerStatuses=[])
    assert refusal(written(), pod) == Refused(400, "not found app containerStatus in Pod Status")
    waiting = made_pod(containerStatuses=[{"name": "app", "state": {"waiting": {}}}])
    said = "no containerID in app containerStatus, maybe the container has not been initialized"
    assert refusal(written(), waiting) == Refused(400, said)


@pytest.mark.parametrize(
    ("labels", "copied"), [({"type": "virtual-kubelet"}, True), ({}, False), ({"type": "x"}, False)]
)
def test_upstream_inject_virtual_kubelet_label(labels: Json, copied: bool) -> None:
    assert ("type" in injected(written(), node=labels).labels) is copied


def test_a_request_of_the_decision_keeps_the_instance_that_it_means() -> None:
    request = written(labels={MANAGED: "true"})
    context = {"containerID": "containerd://older", "restartCount": 0}
    request["spec"]["containers"][0]["statusContext"] = context
    assert injected(request).spec["containers"][0]["statusContext"] == context
    request["spec"]["containers"][0]["preStop"] = {"exec": {"command": ["x"]}}
    assert refusal(request).code == 400


def test_c5_a_second_live_request_of_the_decision_for_a_container_is_refused() -> None:
    ours = {MANAGED: "true"}
    other = request_object(name="first", labels=ours)
    found = refusal(written(labels=ours), others=[other])
    assert (found.code, "first" in found.message) == (403, True)
    assert injected(written("side", labels=ours), made_pod("app", "side"), others=[other])
    assert injected(
        written(labels=ours), others=[request_object(name="first", labels=ours, status={"phase": "Completed"})]
    )
    assert injected(written(labels=ours), others=[request_object(name="first", labels={MANAGED: "true", POD_UID: "x"})])


def test_c5_users_may_stack_theirs() -> None:
    assert injected(written(), others=[request_object(name="first")])
    assert injected(written(labels={MANAGED: "true"}), others=[request_object(name="first")])


def test_upstream_update_spec_immutable() -> None:
    before, now = request_object(), request_object(activeDeadlineSeconds=5)
    assert check_update(before, now) == Refused(403, "spec of ContainerRecreateRequest is immutable")


@pytest.mark.parametrize("key", [POD_UID, NODE_NAME])
def test_upstream_update_immutable_label(key: str) -> None:
    now = request_object(labels={key: "another"})
    assert check_update(request_object(), now) == Refused(403, f"not allowed to update immutable label {key}")


def test_the_time_of_the_drain_is_written_once() -> None:
    noted = request_object(annotations={UNREADY_ACQUIRED: "a"})
    assert check_update(request_object(), noted) is None
    moved = request_object(annotations={UNREADY_ACQUIRED: "b"})
    said = Refused(403, f"not allowed to update immutable annotation {UNREADY_ACQUIRED}")
    assert check_update(noted, moved) == said
    assert check_update(noted, request_object()) == said


def test_the_active_label_may_go() -> None:
    now = request_object()
    del now["metadata"]["labels"][ACTIVE]
    assert check_update(request_object(), now) is None
