"""Plays the recordings of other releases by the rules of their release, and by those of 1.36."""

from pathlib import Path

import msgspec
import pytest
from probelet_conformance import compare, load, play
from probelet_conformance.story import differences_text

from tests.support.paths import RELEASES

FILES = [pytest.param(path, id=f"{path.parent.name}-{path.stem}") for path in sorted(RELEASES.glob("*/*.json"))]


@pytest.mark.parametrize("path", FILES)
def test_a_recording_is_played_by_the_rules_of_its_release(path: Path) -> None:
    recording = load(path)
    assert recording.release == path.parent.name
    differences = compare(recording, play(recording))
    assert not differences, differences_text(recording, differences)


@pytest.mark.parametrize("path", FILES)
def test_the_rules_of_1_36_would_play_it_otherwise(path: Path) -> None:
    recording = load(path)
    assert compare(recording, play(recording, "1.36"))


def test_a_recording_that_names_no_known_release_is_played_as_1_36() -> None:
    [path] = FILES[0].values
    others = [msgspec.structs.replace(load(path), kubernetes=name) for name in ("", "k8s.io/kubernetes v1.99.0")]
    assert [other.release for other in others] == ["1.36", "1.36"]
