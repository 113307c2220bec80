"""Plays every exec recording of the kubelet's prober through the production core."""

import pytest
from probelet_conformance import Recording, compare, load, play
from probelet_conformance.story import differences_text

from tests.support.paths import GENERATED, TRACES

EXEC = [
    pytest.param(recording, id=path.stem)
    for path in sorted([*TRACES.glob("*/*.json"), *GENERATED.glob("*.json")])
    if not (recording := load(path)).uses_sockets
]


@pytest.mark.parametrize("recording", EXEC)
def test_probelet_gives_the_recorded_trace(recording: Recording) -> None:
    differences = compare(recording, play(recording))
    assert not differences, differences_text(recording, differences)


def test_no_exec_recording_is_missing() -> None:
    assert len(EXEC) == 251 + 109


def test_the_comparison_finds_a_difference() -> None:
    recording = load(TRACES / "named" / "startup_gates_others.json")
    trace = play(recording)
    trace["results"][-1] = {**trace["results"][-1], "result": "Failure"}
    trace["workers"] = []
    assert [difference.section for difference in compare(recording, trace)] == ["results", "workers"]
