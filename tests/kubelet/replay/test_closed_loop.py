"""Replays recordings with kills in a closed loop: probelet's own status layer and syncs on a scripted runtime."""

import pytest
from probelet_conformance import Recording, load
from probelet_conformance.closed import play_closed
from probelet_conformance.difference import closed_differences
from probelet_conformance.story import differences_text

from tests.support.paths import GENERATED, TRACES

CLOSED = [
    pytest.param(recording, id=path.stem)
    for path in sorted([*TRACES.glob("*/*.json"), *GENERATED.glob("*.json")])
    if (recording := load(path)).kills
]


@pytest.mark.parametrize("recording", CLOSED)
def test_probelet_takes_the_kubelets_decisions(recording: Recording) -> None:
    differences = closed_differences(recording, play_closed(recording))
    assert not differences, differences_text(recording, differences)


def test_no_recording_with_a_kill_is_missing() -> None:
    assert len(CLOSED) == 43 + 3


def test_the_replay_finds_another_decision() -> None:
    recording: Recording = CLOSED[0].values[0]  # type: ignore[assignment]
    trace = play_closed(recording)
    trace["inputs"] = [line for line in trace["inputs"] if line["call"] != "add_pod"]
    assert [difference.section for difference in closed_differences(recording, trace)] == ["inputs"]
