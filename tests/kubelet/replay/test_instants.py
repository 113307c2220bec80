"""Two things in one instant: the kubelet takes either order, and one order if they are apart; probelet takes one."""

from itertools import groupby
from pathlib import Path

import pytest
from probelet_conformance import Recording, compare, load, play
from probelet_conformance.closed import play_closed
from probelet_conformance.difference import Difference, closed_differences
from probelet_conformance.recording import Trace
from probelet_conformance.story import differences_text

from tests.support.paths import INSTANTS

FILES = sorted(INSTANTS.glob("*.json"))
PAIRS = {
    pair: {path.stem.removeprefix(f"{pair}_"): load(path) for path in paths}
    for pair, paths in groupby(FILES, key=lambda path: "_".join(path.stem.split("_")[: 2 if "two" in path.stem else 3]))
}
"""The two things -> what comes first, or `together` -> the recording."""

OURS = {
    "stop_or_tick": "stop_first",
    "stop_or_trigger": "stop_first",
    "trigger_or_tick": "trigger_first",
    "two_ticks": "readiness_first",
    "two_results": "startup_first",
}
"""What comes first for probelet, as docs/kubelet-parity.md says."""

OFTEN = 100
"""Of 400 runs of the kubelet's prober; half of them are the mean."""


@pytest.mark.parametrize("pair", OURS)
def test_the_kubelets_order_is_chance_only_in_one_instant(pair: str) -> None:
    together, *apart = (PAIRS[pair][name] for name in sorted(PAIRS[pair], key=lambda name: name != "together"))
    assert [recording.variants for recording in apart] == [[], []]
    [variant] = together.variants
    assert variant.count >= OFTEN
    first, second = (order(pair, recording.trace) for recording in apart)
    assert first != second
    recorded = [order(pair, together.trace), order(pair, variant.trace)]
    assert recorded in ([first, second], [second, first])


@pytest.mark.parametrize("pair", OURS)
def test_probelet_has_the_order_that_the_parity_page_lists(pair: str) -> None:
    together = PAIRS[pair]["together"]
    # The open replay of a recording with other inputs in its variant plays each, and the inputs give the order away.
    trace = play_closed(together) if together.kills else play(together)
    assert order(pair, trace) == order(pair, PAIRS[pair][OURS[pair]].trace)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_probelet_gives_a_recorded_trace(path: Path) -> None:
    recording = load(path)
    differences = [each for each in compare(recording, play(recording)) if not is_late(recording, each)]
    if recording.kills:
        differences += closed_differences(recording, play_closed(recording))
    assert not differences, differences_text(recording, differences)


def test_the_kubelet_keeps_an_order_of_ticks_or_changes_it() -> None:
    recording = load(INSTANTS / "ticks_again.json")
    traces = [recording.trace, *(variant.trace for variant in recording.variants)]
    # Of two ticks, the liveness worker comes first at none, at the first or at both.
    assert sorted(len(trace["probes"]) for trace in traces) == [0, 1, 2]


def is_late(recording: Recording, difference: Difference) -> bool:
    """A sync loop that is busy takes an update late; probelet's is never busy."""
    return difference.section == "updates" and "update_ms" in recording.scenario.kubelet_glue


def order(pair: str, trace: Trace) -> list[str]:
    """What tells the two orders apart: which updates the sync loop takes, or how often each worker did what it does."""
    if pair == "two_results":
        return [line["type"] for line in trace["updates"]]
    return sorted(line["type"] for line in trace["results" if pair == "two_ticks" else "probes"])
