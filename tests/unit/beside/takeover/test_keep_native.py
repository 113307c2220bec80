"""A pod keeps its readiness probes native, and its liveness probes are taken over."""

import msgspec
import pytest
from probelet.beside.takeover import (
    ENHANCED_LIVENESS,
    FALLBACK_ANNOTATION,
    KEEP_NATIVE_ANNOTATION,
    MANAGED_LABEL,
    PROBES_ANNOTATION,
    read,
)
from probelet.beside.takeover.namespace import asking
from probelet.spec import decode_pod

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
    patched,
    pod,
    reason,
)

KEEPS = {KEEP_NATIVE_ANNOTATION: "readiness"}
WEB = container(livenessProbe=LIVENESS, readinessProbe=READINESS)


def test_liveness_moves_alone_and_the_kubelet_keeps_readiness_without_a_gate_or_a_made_probe() -> None:
    after, answer = called(pod(WEB, annotations=KEEPS))
    assert after["spec"]["containers"] == [container(readinessProbe=READINESS)]
    assert (moved(after), made(after), has_gate(after)) == ({"app": {"livenessProbe": LIVENESS}}, {}, False)
    assert (answer.result, answer.warnings, reason(after)) == ("taken-over", (), None)


def test_the_agent_runs_liveness_and_has_nothing_to_say_about_readiness() -> None:
    after, _ = called(pod(WEB, annotations=KEEPS))
    after["metadata"]["namespace"] = "default"
    text = after["metadata"]["annotations"][PROBES_ANNOTATION]
    found = read(text, decode_pod(msgspec.json.encode(after)), own_namespace="probelet-system")
    assert {name: set(probes) for name, probes in found.probes.items()} == {"app": {"liveness"}}
    assert (found.problems, found.unprobed) == ((), frozenset())


def test_it_counts_for_each_container_and_the_fallback_joins_in() -> None:
    sidecar = container("proxy", restartPolicy="Always", livenessProbe=LIVENESS, readinessProbe=READINESS)
    other = container("other", readinessProbe=READINESS, startupProbe=STARTUP)
    after, _ = called(pod(WEB, other, init=(sidecar,), annotations={**KEEPS, FALLBACK_ANNOTATION: "10m"}))
    assert native(after) == ["proxy/readiness", "app/readiness", "other/readiness", "other/startup"]
    assert list(moved(after)) == ["proxy", "app"]
    assert made(after) == {"proxy": ["livenessProbe"], "app": ["livenessProbe"]}


@pytest.mark.parametrize(
    ("probed", "annotations"),
    [(container(readinessProbe=READINESS), KEEPS), (WEB, {**KEEPS, ENHANCED_LIVENESS: "true"})],
)
def test_a_pod_with_nothing_else_to_move_is_left_alone(probed: Json, annotations: Json) -> None:
    before = pod(probed, annotations=annotations)
    after, answer = called(before)
    assert (after, answer.result, answer.warnings) == (before, "nothing", ())


@pytest.mark.parametrize("text", ["", "liveness", "Readiness", "readiness,liveness", "true"])
def test_another_word_keeps_every_probe_and_says_what_is_allowed(text: str) -> None:
    after, answer = called(pod(WEB, annotations={KEEP_NATIVE_ANNOTATION: text}))
    said = f'metadata.annotations[probelet.dev/keep-native]: Unsupported value: "{text}": supported values: "readiness"'
    assert (native(after), reason(after)) == (["app/liveness", "app/readiness"], said)
    assert (answer.result, answer.warnings) == ("native", (f"probelet: probes stay native: {said}",))


def test_a_namespace_asks_for_such_a_pod_only_where_something_moves() -> None:
    def labelled(value: Json) -> bool:
        del value["metadata"]["labels"]
        return MANAGED_LABEL in patched(value, asking(value))["metadata"].get("labels", {})

    assert labelled(pod(WEB, annotations=KEEPS))
    assert not labelled(pod(container(readinessProbe=READINESS), annotations=KEEPS))
