"""A pod asks for the takeover: its probes move to the annotation, and nothing else of it changes."""

import copy

import msgspec
import pytest
from probelet.beside.takeover import CONDITION, MANAGED_LABEL, PROBES_ANNOTATION, patch
from probelet.beside.takeover.view import ViewError

from tests.unit.beside.takeover.pods import (
    LIVENESS,
    READINESS,
    STARTUP,
    Json,
    called,
    container,
    has_gate,
    made,
    moved,
    native,
    pod,
)


def test_liveness_and_readiness_move_as_they_were_written_and_the_startup_probe_stays() -> None:
    before = pod(container(livenessProbe=LIVENESS, readinessProbe=READINESS, startupProbe=STARTUP))
    after, answer = called(before)
    text = after["metadata"]["annotations"][PROBES_ANNOTATION]
    assert text.encode() == msgspec.json.encode({"app": {"livenessProbe": LIVENESS, "readinessProbe": READINESS}})
    assert after["spec"]["containers"] == [container(startupProbe=STARTUP)]
    assert (made(after), has_gate(after), answer.result, answer.warnings) == ({}, True, "taken-over", ())


def test_nothing_else_of_the_pod_changes() -> None:
    before = pod(
        container(livenessProbe=LIVENESS, ports=[{"containerPort": 8080}], futureField={"a": [1]}),
        annotations={"other": "stays"},
        futureField=True,
    )
    after, _ = called(before)
    del after["metadata"]["annotations"][PROBES_ANNOTATION]
    after["spec"]["containers"][0]["livenessProbe"] = LIVENESS
    assert after == before


def test_the_gate_comes_with_readiness_only() -> None:
    for probes, wanted in (
        ({"livenessProbe": LIVENESS, "startupProbe": STARTUP}, False),
        ({"readinessProbe": READINESS}, True),
    ):
        assert has_gate(called(pod(container(**probes)))[0]) is wanted


def test_a_pod_with_startup_probes_alone_is_left_alone() -> None:
    before = pod(container(startupProbe=STARTUP))
    after, answer = called(before)
    assert (after, answer.result, answer.warnings) == (before, "nothing", ())


def test_other_readiness_gates_stay_in_front() -> None:
    gates = [{"conditionType": "target-health.elbv2.k8s.aws/web"}]
    after, _ = called(pod(container(readinessProbe=READINESS), readinessGates=gates))
    assert after["spec"]["readinessGates"] == [*gates, {"conditionType": CONDITION}]


@pytest.mark.parametrize("label", [None, "True", "1", "yes", "false", ""])
def test_only_the_exact_label_asks_for_it(label: str | None) -> None:
    before = pod(container(livenessProbe=LIVENESS))
    before["metadata"]["labels"] = {} if label is None else {MANAGED_LABEL: label}
    after, answer = called(before)
    assert (after, answer.result, answer.warnings) == (before, "nothing", ())


def test_a_pod_without_probes_is_left_alone() -> None:
    before = pod(container(), init=(container("job"),))
    assert called(before) == (before, patch(before, namespace="default", own_namespace="probelet-system"))
    assert called(before)[1].operations == ()


def test_a_container_without_probes_hides_no_other() -> None:
    after, answer = called(pod(container("plain"), container(readinessProbe=READINESS)))
    assert (list(moved(after)), answer.result) == (["app"], "taken-over")


@pytest.mark.parametrize("own", [{}, {"startupProbe": STARTUP}])
def test_a_sidecar_moves_and_comes_first_and_its_startup_probe_orders_the_start_as_before(own: Json) -> None:
    sidecar = container("proxy", restartPolicy="Always", livenessProbe=LIVENESS, readinessProbe=READINESS, **own)
    after, answer = called(pod(container(livenessProbe=LIVENESS), init=(container("job"), sidecar)))
    assert list(moved(after)) == ["proxy", "app"]
    assert after["spec"]["initContainers"][1] == container("proxy", restartPolicy="Always", **own)
    assert (made(after), answer.result) == ({}, "taken-over"), "a made startup probe would hold back the next container"


def test_probes_of_an_init_container_are_for_the_api_server_to_refuse() -> None:
    before = pod(container(livenessProbe=LIVENESS), init=(container("job", livenessProbe=LIVENESS),))
    after, _ = called(before)
    assert (native(after), list(moved(after))) == (["job/liveness"], ["app"])


def test_null_fields_mean_unset() -> None:
    before = pod(container(livenessProbe=LIVENESS, readinessProbe=None), initContainers=None, readinessGates=None)
    before["metadata"]["annotations"] = None
    answer = patch(before, namespace="default", own_namespace="probelet-system")
    assert [operation["path"] for operation in answer.operations] == [
        "/spec/containers/0/livenessProbe",
        "/metadata/annotations",
    ]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"spec": {"containers": [{"livenessProbe": "x"}]}}, "$.spec.containers[0].livenessProbe"),
        ({"spec": []}, "$.spec"),
        ({"metadata": {"labels": {"a": 1}}}, "$.metadata.labels[...]"),
    ],
)
def test_an_object_that_is_no_pod_gets_one_line(change: Json, place: str) -> None:
    with pytest.raises(ViewError) as raised:
        patch({**pod(container()), **change}, namespace="default", own_namespace="probelet-system")
    assert place in str(raised.value)
    assert "\n" not in str(raised.value)


def test_so_many_containers_as_a_request_holds_move_together() -> None:
    # What grows with the square of their number would take minutes.
    probe = {"exec": {"command": ["a"]}}
    before = pod(*(container(f"c{index}", livenessProbe=probe) for index in range(4_000)))
    after, _ = called(copy.deepcopy(before))
    assert moved(after) == {f"c{index}": {"livenessProbe": probe} for index in range(4_000)}
