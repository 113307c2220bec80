"""Plays recordings whose probes open connections through the real handlers, against targets on loopback."""

from collections.abc import Iterator

import pytest
from probelet_conformance import Recording, compare, load, play
from probelet_conformance.story import differences_text
from probelet_conformance.target import targets

from tests.support.paths import TRACES

pytestmark = pytest.mark.e2e

SOCKETS = [
    pytest.param(recording, id=path.stem)
    for path in sorted(TRACES.glob("*/*.json"))
    if (recording := load(path)).uses_sockets
]


@pytest.fixture(scope="module", autouse=True)
def served() -> Iterator[None]:
    with targets():
        yield


def test_no_socket_recording_is_missing() -> None:
    assert len(SOCKETS) == 17


@pytest.mark.parametrize("recording", SOCKETS)
def test_probelet_gives_the_recorded_trace(recording: Recording) -> None:
    differences = compare(recording, play(recording))
    assert not differences, differences_text(recording, differences)
