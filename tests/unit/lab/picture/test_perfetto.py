"""Perfetto's own messages read the trace, and find in it what the document says."""

from collections import defaultdict

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackDescriptor, TrackEvent
from probelet.lab.picture.document import SimulateDocument
from probelet.lab.picture.perfetto import trace

from tests.unit.lab.picture.documents import HOSTILE, run_of
from tests.unit.lab.picture.scenes import bad_rollout, crash_loop, empty, healthy, slow_dependency

NANOSECONDS = 1_000_000_000


def nanoseconds(seconds: float) -> int:
    return round(seconds * NANOSECONDS)


class Read:
    """A trace by its tracks: the path of each, and its events in order."""

    def __init__(self, made: SimulateDocument) -> None:
        read = Trace()
        read.ParseFromString(trace(made))
        assert read.packet[0].sequence_flags == 1
        assert {packet.trusted_packet_sequence_id for packet in read.packet} == {1}
        self.tracks: dict[int, TrackDescriptor] = {}
        self.events: dict[str, list[tuple[int, TrackEvent]]] = defaultdict(list)
        for packet in read.packet:
            if packet.HasField("track_descriptor"):
                assert packet.track_descriptor.uuid not in self.tracks
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            elif packet.HasField("track_event"):
                self.events[self.path(packet.track_event.track_uuid)].append((packet.timestamp, packet.track_event))

    def path(self, uuid: int) -> str:
        track = self.tracks[uuid]
        return f"{self.path(track.parent_uuid)} > {track.name}" if track.parent_uuid else track.name

    def slices(self, path: str) -> list[tuple[int, int, TrackEvent]]:
        """Begin, end and first event of each slice; slices of a track do not overlap."""
        found = []
        events = iter(self.events[path])
        for at, event in events:
            assert event.type == TrackEvent.TYPE_SLICE_BEGIN
            end, last = next(events)
            assert last.type == TrackEvent.TYPE_SLICE_END
            assert at < end
            assert not found or found[-1][1] <= at + 1
            found.append((at, end, event))
        return found


SCENES = [slow_dependency(), bad_rollout(), crash_loop(), empty()]


@pytest.mark.parametrize("made", SCENES, ids=lambda made: made["scenario"]["name"])
def test_every_pod_has_its_states_and_every_probe_its_attempts(made: SimulateDocument) -> None:
    read = Read(made)
    for row in made["pods"]:
        path = f"{made['scenario']['name']} > {row['workload']} > {row['name']}"
        assert [(begin, end, event.name) for begin, end, event in read.slices(path)] == [
            (nanoseconds(span["from_seconds"]), nanoseconds(span["to_seconds"]), span["state"]) for span in row["spans"]
        ]
        for probe in row["probes"]:
            slices = read.slices(f"{path} > {probe['container']} {probe['type']}")
            assert [begin for begin, _, _ in slices] == [nanoseconds(t) for t in probe["attempts"]["t"]]
            assert [event.debug_annotations[0].string_value for _, _, event in slices] == probe["attempts"]["cause"]
            assert {event.debug_annotations[1].double_value for _, _, event in slices} <= {probe["timeout_seconds"]}


@pytest.mark.parametrize("made", SCENES, ids=lambda made: made["scenario"]["name"])
def test_kills_and_exits_are_instants(made: SimulateDocument) -> None:
    read = Read(made)
    for row in made["pods"]:
        events = read.events[f"{made['scenario']['name']} > {row['workload']} > {row['name']} > kills and exits"]
        assert {event.type for _, event in events} <= {TrackEvent.TYPE_INSTANT}
        killed = [(at, event.name) for at, event in events if event.name.startswith("killed")]
        assert killed == [
            (nanoseconds(kill["at_seconds"]), f"killed by the {kill['probe_type']} probe") for kill in row["kills"]
        ]
        codes = [event.debug_annotations[1].int_value for _, event in events if not event.name.startswith("killed")]
        assert codes == [exited["exit_code"] for exited in row["exits"]]


def test_requests_and_endpoints_are_counters() -> None:
    made = slow_dependency()
    read = Read(made)
    series = made["services"][0]["series"]
    for name, unit in (("lost", "requests/s"), ("offered", "requests/s"), ("endpoints", "pods")):
        path = f"dependency-slow > Service default/web > {name}"
        assert [event.double_counter_value for _, event in read.events[path]] == series[name]  # type: ignore[literal-required]
        assert [at for at, _ in read.events[path]] == [nanoseconds(t) for t in series["t"]]
        assert {event.type for _, event in read.events[path]} == {TrackEvent.TYPE_COUNTER}
        (track,) = [track for track in read.tracks.values() if read.path(track.uuid) == path]
        assert track.counter.unit_name == unit


def test_a_fault_lasts_to_its_end_or_that_of_the_simulation() -> None:
    ((begin, end, event),) = Read(slow_dependency()).slices("dependency-slow > fault: auth")
    assert (begin, end, event.name) == (60 * NANOSECONDS, 150 * NANOSECONDS, "auth answers in 1.5 s")
    ((begin, end, _),) = Read(bad_rollout()).slices("bad-rollout > fault: Deployment/default/web")
    assert (begin, end) == (300 * NANOSECONDS, 1_200 * NANOSECONDS)


def test_the_compared_run_has_a_track_of_its_own() -> None:
    made = slow_dependency()
    made["against"] = run_of(healthy(), ["web-apart.yaml"])
    roots = [track.name for track in Read(made).tracks.values() if not track.parent_uuid]
    assert roots == ["dependency-slow: web.yaml", "dependency-slow: web-apart.yaml"]


def test_siblings_keep_the_order_of_the_document() -> None:
    read = Read(bad_rollout())
    pods = [track for track in read.tracks.values() if track.name.startswith("default/web-")]
    assert {track.child_ordering for track in read.tracks.values()} == {TrackDescriptor.EXPLICIT}
    assert [track.name for track in sorted(pods, key=lambda track: track.sibling_order_rank)] == [
        row["name"] for row in bad_rollout()["pods"]
    ]


def test_an_odd_name_is_kept() -> None:
    made = slow_dependency()
    made["pods"][0]["name"] = HOSTILE + "\ud800"
    names = {track.name for track in Read(made).tracks.values()}
    assert HOSTILE + "?" in names
