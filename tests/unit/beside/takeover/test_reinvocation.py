"""The API server calls a webhook again after others changed the pod, and people copy pods with annotations."""

import copy

import msgspec
import pytest
from probelet.beside.takeover import CONDITION, MADE_ANNOTATION, NOT_TAKEN_OVER_ANNOTATION, PROBES_ANNOTATION

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
    reason,
)

WEB = container(livenessProbe=LIVENESS, readinessProbe=READINESS)
HOSTED = {"tcpSocket": {"port": 80, "host": "10.0.0.1"}}


def injected(value: Json, *containers: Json) -> Json:
    """The pod with containers that another webhook adds."""
    after = copy.deepcopy(value)
    after["spec"]["containers"] += containers
    return after


@pytest.mark.parametrize(
    "added",
    [
        container("agent", readinessProbe=READINESS),
        container("agent", livenessProbe=HOSTED),
        container("agent", livenessProbe={**LIVENESS, "futureField": 1}),
        container("agent", livenessProbe={**LIVENESS, "periodSeconds": -5}),
        container("agent", startupProbe=STARTUP, livenessProbe=LIVENESS, restartPolicy="OnFailure"),
        container("agent", startupProbe=STARTUP),
        container("agent"),
    ],
)
def test_what_is_injected_afterwards_counts_as_if_it_had_been_there(added: Json) -> None:
    at_once, _ = called(injected(pod(WEB), added))
    first, _ = called(pod(WEB))
    assert moved(first) == {"app": {"livenessProbe": LIVENESS, "readinessProbe": READINESS}}
    assert made(first) == {"app": ["startupProbe"]}
    afterwards, _ = called(injected(first, added))
    # The API server keeps an empty map and an empty list apart from absent ones only until it stores the pod.
    for value in (at_once, afterwards):
        value["metadata"]["annotations"] = value["metadata"].get("annotations") or None
        value["spec"]["readinessGates"] = value["spec"].get("readinessGates") or None
    assert afterwards == at_once


def test_probes_that_become_native_again_take_gate_and_annotation_with_them() -> None:
    first, _ = called(pod(WEB, readinessGates=[{"conditionType": "other"}]))
    after, answer = called(injected(first, container("agent", livenessProbe=HOSTED)))
    assert native(after) == ["app/liveness", "app/readiness", "agent/liveness"]
    assert after["spec"]["containers"][0] == WEB
    assert after["spec"]["readinessGates"] == [{"conditionType": "other"}]
    assert not {PROBES_ANNOTATION, MADE_ANNOTATION} & after["metadata"]["annotations"].keys()
    assert answer.result == "native"


def test_a_native_probe_counts_before_an_older_entry_of_the_annotation() -> None:
    first, _ = called(pod(WEB))
    newer = {**LIVENESS, "periodSeconds": 42}
    first["spec"]["containers"][0]["livenessProbe"] = newer
    assert moved(called(first)[0])["app"] == {"livenessProbe": newer, "readinessProbe": READINESS}


def test_an_entry_of_a_container_that_is_gone_is_dropped_with_a_warning() -> None:
    first, _ = called(pod(WEB, container("b", livenessProbe=LIVENESS)))
    del first["spec"]["containers"][1]
    after, answer = called(first)
    assert list(moved(after)) == ["app"]
    assert len(answer.warnings) == 1
    assert 'dropped "b": the pod has no such container' in answer.warnings[0]


def test_an_old_reason_goes_with_its_cause() -> None:
    after, _ = called(pod(container(livenessProbe=HOSTED)))
    assert reason(after) is not None
    after["spec"]["containers"][0]["livenessProbe"] = LIVENESS
    again, _ = called(after)
    assert (reason(again), native(again)) == (None, [])


def test_a_gate_that_a_person_wrote_stays() -> None:
    before = pod(container(livenessProbe=HOSTED), readinessGates=[{"conditionType": CONDITION}])
    assert has_gate(called(before)[0])


def test_a_copy_of_a_live_pod_keeps_its_probes() -> None:
    first, _ = called(pod(WEB))
    copied = copy.deepcopy(first)
    copied["metadata"]["annotations"][PROBES_ANNOTATION] = msgspec.json.format(
        copied["metadata"]["annotations"][PROBES_ANNOTATION]
    )
    assert called(copied)[0] == first


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "the annotation must be a JSON object"),
        ('{"app":[]}', 'container "app" must be a JSON object'),
        ('{"app":{"livenessProbe":1}}', 'livenessProbe of container "app" must be a JSON object'),
        ('{"app":{"preStop":{}}}', '"preStop", which is none of livenessProbe, readinessProbe, startupProbe'),
    ],
)
def test_an_annotation_that_no_webhook_wrote_changes_nothing(text: str, words: str) -> None:
    before = pod(WEB, annotations={PROBES_ANNOTATION: text})
    after, answer = called(before)
    assert words in after["metadata"]["annotations"].pop(NOT_TAKEN_OVER_ANNOTATION)
    assert after == before
    assert answer.result == "native"


def test_an_invalid_entry_becomes_native_so_that_the_api_server_refuses_it() -> None:
    text = '{"app":{"livenessProbe":{"tcpSocket":{"port":0}}}}'
    after, _ = called(pod(container(), annotations={PROBES_ANNOTATION: text}))
    assert after["spec"]["containers"][0]["livenessProbe"] == {"tcpSocket": {"port": 0}}
    assert "tcpSocket.port: Invalid value: 0" in (reason(after) or "")
