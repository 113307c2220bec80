"""Pods that asked for probelet and have native probes all the same."""

from typing import Any

import pytest
from probelet.beside.pods.missed import missed_pod, why_missed
from probelet.beside.takeover.namespace import name_of_asking

from tests.unit.beside.takeover.pods import LIVENESS, READINESS, Json, called, container, pod

ENHANCED = "apps.kruise.io/using-enhanced-liveness"
CONTEXT = "apps.kruise.io/container-probe-context"
WEB = container(livenessProbe=LIVENESS, readinessProbe=READINESS)


def why(value: Json) -> str:
    return why_missed({**value, "metadata": {"namespace": "default", **value["metadata"]}}, "probelet-system")


def test_a_pod_whose_webhook_was_away_says_what_it_asked_for() -> None:
    assert why(pod(WEB)) == (
        "the pod asks for the takeover of its probes (label probelet.dev/managed), and has native probes: "
        "no webhook answered when it was created. A new pod asks again"
    )
    assert why(called(pod(WEB))[0]) == ""


def test_liveness_of_a_pod_that_asks_for_enhanced_liveness() -> None:
    asks = pod(container(livenessProbe=LIVENESS), annotations={ENHANCED: "true"})
    assert "asks for enhanced liveness (annotation apps.kruise.io/using-enhanced-liveness), and has" in why(asks)
    both = pod(WEB, annotations={ENHANCED: "true"})
    assert "(label probelet.dev/managed), and for enhanced liveness" in why(both)
    taken = pod(container(), annotations={ENHANCED: "true", CONTEXT: "[]"})
    assert why(taken) == ""


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"labels": {"probelet.dev/managed": "false"}}},
        {"metadata": {"labels": {"probelet.dev/managed": "true"}, "annotations": {"kubernetes.io/config.mirror": "x"}}},
        {"metadata": {"labels": {"probelet.dev/managed": "true"}, "namespace": "probelet-system"}},
        {"spec": {"containers": [container()]}},
        {"spec": {"containers": [WEB], "os": {"name": "windows"}}},
        {"spec": {"containers": [container(livenessProbe=LIVENESS)], "restartPolicy": "Never"}},
    ],
)
def test_a_pod_that_asks_for_nothing_or_may_not_was_not_missed(change: dict[str, Any]) -> None:
    assert why({**pod(WEB), **change}) == ""


def test_a_pod_that_stays_native_for_a_reason_was_not_missed() -> None:
    hosted = container(livenessProbe={"tcpSocket": {"port": 80, "host": "10.0.0.1"}})
    assert why(called(pod(hosted))[0]) == ""


def test_an_object_that_is_no_pod_was_not_missed() -> None:
    assert why({**pod(WEB), "spec": {"containers": [{"livenessProbe": "x"}]}}) == ""


def missed_in(value: Json, namespace: str = "labelled") -> str:
    metadata = {"name": "web", "uid": "u-1", "namespace": namespace, **value["metadata"]}
    bound = {**value, "metadata": metadata, "spec": {**value["spec"], "nodeName": "worker-1"}}
    found = missed_pod(bound, "probelet-system", frozenset({"labelled"}))
    return "" if found is None else found.why


def test_a_pod_whose_namespace_asks_and_which_has_native_probes_was_missed() -> None:
    assert missed_in({**pod(WEB), "metadata": {"labels": {"app": "web"}}}) == (
        "its namespace asks for the takeover of its probes, and it has native probes: "
        "it is older than the label probelet.dev/managed there, or no webhook answered. A new pod asks again"
    )
    assert missed_in({**pod(WEB), "metadata": {}})


def test_a_pod_with_a_label_of_its_own_is_not_its_namespaces() -> None:
    assert missed_in({**pod(WEB), "metadata": {"labels": {"probelet.dev/managed": "false"}}}) == ""
    assert missed_in(pod(WEB)).startswith("the pod asks for the takeover")
    assert missed_in(called(pod(WEB))[0]) == ""


def test_a_namespace_asks_for_no_pod_elsewhere_and_for_none_without_probes_to_take_over() -> None:
    assert missed_in({**pod(WEB), "metadata": {}}, "default") == ""
    assert missed_in({**pod(container()), "metadata": {}}) == ""


@pytest.mark.parametrize(("name", "expected"), [("shop", "shop"), ("kube-system", ""), ("probelet-system", "")])
def test_the_label_has_no_effect_where_the_webhook_never_gets_a_pod(name: str, expected: str) -> None:
    assert name_of_asking({"metadata": {"name": name}}, "probelet-system") == expected
