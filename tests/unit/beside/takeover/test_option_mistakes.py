"""The mistakes in a new pod's options of probes are warnings for the user who creates it."""

import json

from probelet.beside.takeover.patch import WARNING_BYTES_MAX
from probelet.spec.annotation.hold_kills import ANNOTATION as HOLD_KILLS
from probelet.spec.annotation.probe_options import ANNOTATION, PATH

from tests.unit.beside.takeover.pods import LIVENESS, called, container, pod


def warnings(text: str) -> tuple[str, ...]:
    after, answer = called(pod(container(livenessProbe=LIVENESS), annotations={ANNOTATION: text}))
    assert answer.result == "taken-over"
    assert called(after)[1].warnings == (), "said once, and the second call comes after the probes have moved"
    return answer.warnings


def test_each_mistake_is_a_warning_with_its_path() -> None:
    options = {"failures": {"of": 3, "at": 4}, "untilReady": "1ms"}
    first, second = warnings(json.dumps({"app": {"livenessProbe": options}}))
    assert first.startswith(
        f"probelet: {PATH}.app.livenessProbe.failures.at: Invalid value: 4: must not be above of, 3"
    )
    assert second.startswith(f'probelet: {PATH}.app.livenessProbe.untilReady: Invalid value: "1ms": must be a duration')


def test_good_options_cause_no_word() -> None:
    assert warnings(json.dumps({"app": {"livenessProbe": {"whenFailing": "500ms"}}})) == ()


def test_a_long_value_is_cut() -> None:
    (only,) = warnings("[" * 10_000)
    assert len(only.encode()) <= WARNING_BYTES_MAX


def test_a_wrong_wish_to_change_probes_is_a_warning() -> None:
    annotations = {"probelet.dev/probe-changes": "yes"}
    _, answer = called(pod(container(livenessProbe=LIVENESS), annotations=annotations))
    (only,) = answer.warnings
    assert 'annotations[probelet.dev/probe-changes]: Unsupported value: "yes": supported values: "live"' in only


def test_a_choice_of_held_kills_that_does_not_exist_is_a_warning_too() -> None:
    annotated = {HOLD_KILLS: "sometimes"}
    _, answer = called(pod(container(livenessProbe=LIVENESS), annotations=annotated))
    (warning,) = answer.warnings
    said = f'metadata.annotations[{HOLD_KILLS}]: Unsupported value: "sometimes": supported values: off, prober, shared'
    assert warning == f"probelet: {said}"
    assert called(pod(container(livenessProbe=LIVENESS), annotations={HOLD_KILLS: "shared"}))[1].warnings == ()
