"""Both opt-ins on one pod: liveness belongs to enhanced liveness, and the order of the two webhooks does not matter."""

import copy

import msgspec
from probelet.beside.takeover import ENHANCED_LIVENESS, PROBES_ANNOTATION

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
    reason,
)

BOTH = {ENHANCED_LIVENESS: "true"}
WEB = container(livenessProbe=LIVENESS, readinessProbe=READINESS, startupProbe=STARTUP)


def enhanced(value: Json) -> Json:
    """The pod after the other webhook, which takes the liveness probes of regular containers away."""
    after = copy.deepcopy(value)
    backup = [
        {"name": one["name"], "livenessProbe": one.pop("livenessProbe")}
        for one in after["spec"]["containers"]
        if "livenessProbe" in one
    ]
    if backup:
        after["metadata"]["annotations"]["apps.kruise.io/container-probe-context"] = msgspec.json.encode(
            backup
        ).decode()
    return after


def test_both_orders_end_alike() -> None:
    before = pod(WEB, annotations=BOTH)
    theirs_first, _ = called(enhanced(before))
    ours_first, _ = called(enhanced(called(before)[0]))
    assert ours_first == theirs_first
    assert moved(ours_first) == {"app": {"readinessProbe": READINESS}}
    assert (native(ours_first), reason(ours_first)) == (["app/startup"], None)


def test_liveness_is_never_in_the_annotation() -> None:
    after, _ = called(pod(container(livenessProbe=LIVENESS, readinessProbe=READINESS), annotations=BOTH))
    assert (moved(after), native(after)) == ({"app": {"readinessProbe": READINESS}}, ["app/liveness"])


def test_no_native_liveness_probe_waits_for_a_startup_probe_that_nobody_wrote() -> None:
    # If the other webhook is not there, a container that hangs in its start-up would never be killed.
    before = pod(container(livenessProbe=LIVENESS, readinessProbe=READINESS), annotations=BOTH)
    first, answer = called(before)
    assert (native(first), made(first), answer.result) == (["app/liveness"], {}, "taken-over")
    theirs_first, _ = called(enhanced(before))
    assert called(enhanced(first))[0] == theirs_first
    assert made(theirs_first) == {"app": ["startupProbe"]}


def test_liveness_that_was_moved_before_the_pod_asked_for_both_comes_back() -> None:
    first, _ = called(pod(WEB))
    first["metadata"]["annotations"] |= BOTH
    assert called(enhanced(called(first)[0]))[0] == called(enhanced(pod(WEB, annotations=BOTH)))[0]


def test_a_pod_with_liveness_alone_is_not_ours() -> None:
    before = pod(container(livenessProbe=LIVENESS), annotations=BOTH)
    after, answer = called(before)
    assert (after, answer.warnings) == (before, ())


def test_the_others_restart_policy_and_host_are_not_ours_to_judge() -> None:
    hosted = {"tcpSocket": {"port": 1, "host": "10.0.0.1"}}
    before = pod(container(livenessProbe=hosted, readinessProbe=READINESS), annotations=BOTH, restartPolicy="OnFailure")
    assert moved(called(before)[0]) == {"app": {"readinessProbe": READINESS}}


def test_only_the_exact_value_asks_for_it() -> None:
    after, _ = called(pod(WEB, annotations={ENHANCED_LIVENESS: "True"}))
    assert list(moved(after)["app"]) == ["livenessProbe", "readinessProbe"]
    assert PROBES_ANNOTATION in after["metadata"]["annotations"]
