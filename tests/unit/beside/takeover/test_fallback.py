"""The liveness probe that the kubelet keeps as a fallback."""

import msgspec
import pytest
from probelet.beside.takeover import ENHANCED_LIVENESS, FALLBACK_ANNOTATION, MADE_ANNOTATION, PROBES_ANNOTATION, read
from probelet.beside.takeover.fallback import FallbackError, fallback_of, read_fallback
from probelet.spec import decode_pod
from probelet.spec.text.duration import HOUR, MINUTE

from tests.unit.beside.takeover.pods import (
    LIVENESS,
    READINESS,
    Json,
    called,
    container,
    made,
    moved,
    native,
    pod,
    reason,
)

WEB = container(livenessProbe=LIVENESS, readinessProbe=READINESS)
TEN = {FALLBACK_ANNOTATION: "10m"}


def test_the_kubelet_keeps_a_probe_that_fails_for_longer_and_the_agent_gets_the_original() -> None:
    after, answer = called(pod(WEB, annotations=TEN))
    assert after["spec"]["containers"][0]["livenessProbe"] == {**LIVENESS, "failureThreshold": 60}
    assert moved(after)["app"]["livenessProbe"] == LIVENESS
    assert (made(after), native(after)) == ({"app": ["livenessProbe", "startupProbe"]}, [])
    assert (answer.result, answer.warnings) == ("taken-over", ())
    after["metadata"]["namespace"] = "default"
    found = read(
        after["metadata"]["annotations"][PROBES_ANNOTATION],
        decode_pod(msgspec.json.encode(after)),
        own_namespace="probelet-system",
    )
    assert found.problems == ()
    assert found.probes["app"]["liveness"].failure_threshold == 3


@pytest.mark.parametrize(
    ("probe", "grace", "failures"),
    [
        ({}, None, 60),
        ({"periodSeconds": 7}, None, 86),
        # The agent may need twice 6 failures with their timeouts, then the grace.
        ({"failureThreshold": 60, "timeoutSeconds": 5}, 30, 183),
        ({"failureThreshold": 1, "periodSeconds": 1}, 3600, 3604),
        ({"terminationGracePeriodSeconds": 700}, 30, 77),
        ({"failureThreshold": 2**31 - 1}, None, 2**31 - 1),
    ],
)
def test_the_agents_kill_always_precedes(probe: Json, grace: int | None, failures: int) -> None:
    longer = fallback_of({**LIVENESS, **probe}, 10 * MINUTE, grace)
    assert longer == {**LIVENESS, **probe, "failureThreshold": failures}


def test_defaults_count_for_fields_that_are_not_written() -> None:
    assert fallback_of({"tcpSocket": {"port": 1}}, 10 * MINUTE, None)["failureThreshold"] == 60


def test_the_webhooks_default_counts_for_pods_that_name_none() -> None:
    before = pod(container(livenessProbe=LIVENESS))
    assert called(before)[0]["spec"]["containers"] == [container()]
    for annotations, failures in ((None, 360), (TEN, 60)):
        after, _ = called({**before, "metadata": pod(annotations=annotations)["metadata"]}, fallback_ns=HOUR)
        assert after["spec"]["containers"][0]["livenessProbe"]["failureThreshold"] == failures
    after, _ = called(
        pod(container(livenessProbe=LIVENESS), annotations={FALLBACK_ANNOTATION: "none"}), fallback_ns=HOUR
    )
    assert after["spec"]["containers"] == [container()]


@pytest.mark.parametrize("text", ["", "10", "59s", "-10m", "0", "ten minutes", "10m ", "None"])
def test_a_text_that_names_no_time_keeps_the_probes_native_and_says_what_is_allowed(text: str) -> None:
    after, answer = called(pod(WEB, annotations={FALLBACK_ANNOTATION: text}))
    assert (native(after), answer.result) == (["app/liveness", "app/readiness"], "native")
    said = reason(after) or ""
    assert said.startswith("metadata.annotations[probelet.dev/fallback]: Invalid value: ")
    assert said.endswith("must be a duration of at least 1m, or none")
    with pytest.raises(FallbackError, match="at least 1m, or none"):
        read_fallback(text)


def test_a_second_call_with_another_default_makes_it_anew() -> None:
    first, _ = called(pod(WEB), fallback_ns=HOUR)
    assert called(first, fallback_ns=10 * MINUTE)[0] == called(pod(WEB), fallback_ns=10 * MINUTE)[0]
    assert called(first)[0] == called(pod(WEB))[0]


def test_with_enhanced_liveness_it_is_the_other_webhooks() -> None:
    both = {ENHANCED_LIVENESS: "true", FALLBACK_ANNOTATION: "nonsense"}
    after, answer = called(pod(WEB, annotations=both))
    assert (native(after), answer.result) == (["app/liveness"], "taken-over")
    # What that one has left in the spec stays, and stays named.
    longer = {**LIVENESS, "failureThreshold": 180}
    marked = {ENHANCED_LIVENESS: "true", MADE_ANNOTATION: '{"app":["livenessProbe"]}'}
    after, _ = called(pod(container(livenessProbe=longer, readinessProbe=READINESS), annotations=marked))
    assert after["spec"]["containers"][0]["livenessProbe"] == longer
    assert made(after) == {"app": ["livenessProbe", "startupProbe"]}
