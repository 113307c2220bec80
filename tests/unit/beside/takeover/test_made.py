"""The startup probe that the kubelet gets for a readiness probe that moves."""

import copy

import pytest
from probelet.beside.takeover import MADE_ANNOTATION, PROBES_ANNOTATION

from tests.unit.beside.takeover.pods import (
    LIVENESS,
    READINESS,
    STARTUP,
    Json,
    called,
    container,
    made,
    moved,
    native,
    pod,
)

WEB = container(livenessProbe=LIVENESS, readinessProbe={**READINESS, "initialDelaySeconds": 7, "timeoutSeconds": 4})


def test_it_asks_as_the_readiness_probe_does_and_never_kills() -> None:
    after, _ = called(pod(WEB))
    assert after["spec"]["containers"][0]["startupProbe"] == {
        "httpGet": READINESS["httpGet"],
        "initialDelaySeconds": 7,
        "timeoutSeconds": 4,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 2147483647,
    }
    assert after["metadata"]["annotations"][MADE_ANNOTATION] == '{"app":["startupProbe"]}'


def test_a_container_with_a_liveness_probe_alone_gets_none() -> None:
    after, _ = called(pod(container(livenessProbe=LIVENESS)))
    assert after["spec"]["containers"] == [container()]
    assert MADE_ANNOTATION not in after["metadata"]["annotations"]


def test_an_injector_that_rewrites_it_has_it_made_again() -> None:
    first, _ = called(pod(WEB))
    changed = copy.deepcopy(first)
    changed["spec"]["containers"][0]["startupProbe"]["httpGet"] = {"path": "/app-health/app/startupz", "port": 15020}
    assert called(changed)[0] == first


def test_a_startup_probe_that_a_person_writes_into_a_copy_is_theirs() -> None:
    copied, _ = called(pod(WEB))
    copied["spec"]["containers"][0]["startupProbe"] = STARTUP
    after, _ = called(copied)
    assert (native(after), made(after)) == (["app/startup"], {})
    assert after["spec"]["containers"][0]["startupProbe"] == STARTUP


def test_it_follows_a_readiness_probe_that_changes() -> None:
    first, _ = called(pod(WEB))
    first["spec"]["containers"][0]["readinessProbe"] = LIVENESS
    after, _ = called(first)
    assert moved(after)["app"]["readinessProbe"] == LIVENESS
    assert after["spec"]["containers"][0]["startupProbe"]["httpGet"] == LIVENESS["httpGet"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"app":1}', '{"app":[1,{}]}', '{"app":["readinessProbe"]}', '{"b":["startupProbe"]}']
)
def test_an_annotation_that_no_webhook_wrote_names_nothing(text: str) -> None:
    before = pod(container(livenessProbe=LIVENESS, startupProbe=STARTUP), annotations={MADE_ANNOTATION: text})
    after, _ = called(before)
    assert after["spec"]["containers"] == [container(startupProbe=STARTUP)]
    assert after["metadata"]["annotations"].keys() == {PROBES_ANNOTATION}


def test_the_kubelets_own_probe_is_not_dropped_because_a_person_names_it() -> None:
    named: Json = {MADE_ANNOTATION: '{"app":["startupProbe","livenessProbe"]}'}
    longest = {**STARTUP, "failureThreshold": 2147483647}
    after, _ = called(pod(container(livenessProbe=LIVENESS, startupProbe=longest), annotations=named))
    assert native(after) == ["app/startup"]
    assert moved(after) == {"app": {"livenessProbe": LIVENESS}}
