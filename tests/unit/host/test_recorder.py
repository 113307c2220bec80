"""The recorder's three limits, in virtual time, as client-go has them."""

import re
from typing import Any

import pytest
from probelet.host import recorder as module
from probelet.host.recorder import Recorder

SECOND = 1_000_000_000
MINUTE = 60 * SECOND


class Clock:
    def __init__(self) -> None:
        self.now_ns = SECOND

    def now(self) -> int:
        return self.now_ns

    def wall_ms(self) -> int:
        return 1_700_000_000_000 + self.now_ns // 1_000_000


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def recorder(clock: Clock) -> Recorder:
    return Recorder(clock.now, clock.wall_ms)


def say(recorder: Recorder, message: str = "probe failed", *, uid: str = "u", reason: str = "Unhealthy") -> None:
    recorder.record(uid, f"default/{uid}", "Warning", reason, message, "spec.containers{app}")


def test_an_event_is_the_documented_object(recorder: Recorder) -> None:
    say(recorder)
    assert recorder.events() == [
        {
            "seq": 1,
            "schema": "probelet-event/1",
            "at": "2023-11-14T22:13:21.000Z",
            "type": "Warning",
            "reason": "Unhealthy",
            "message": "probe failed",
            "object": "default/u",
            "field_path": "spec.containers{app}",
            "count": 1,
        }
    ]


def test_a_repetition_replaces_the_event_and_counts(recorder: Recorder) -> None:
    say(recorder)
    say(recorder, "other")
    say(recorder)
    assert [(event["seq"], event["message"], event["count"]) for event in recorder.events()] == [
        (2, "other", 1),
        (3, "probe failed", 2),
    ]
    assert [event["seq"] for event in recorder.events(since=2)] == [3]
    assert recorder.events(since=3) == []


def test_a_pod_has_25_events_at_once_and_then_one_in_five_minutes(recorder: Recorder, clock: Clock) -> None:
    for _ in range(30):
        say(recorder)
    assert recorder.events()[-1]["count"] == 25
    assert recorder.dropped == 5
    clock.now_ns += 5 * MINUTE
    say(recorder)
    assert recorder.events()[-1]["count"] == 31, "the dropped events are counted"
    say(recorder)
    assert recorder.dropped == 6


def test_another_pod_has_a_bucket_of_its_own(recorder: Recorder) -> None:
    for _ in range(30):
        say(recorder)
    say(recorder, uid="v")
    assert recorder.events()[-1]["object"] == "default/v"


def test_from_the_tenth_different_message_of_a_reason_on_events_are_merged(recorder: Recorder) -> None:
    for number in range(12):
        say(recorder, f"message {number}")
    shown = [(event["message"], event["count"]) for event in recorder.events()]
    assert shown[:9] == [(f"message {number}", 1) for number in range(9)]
    assert shown[9:] == [("(combined from similar events): message 11", 3)]


def test_merging_is_by_reason_and_ends_after_ten_quiet_minutes(recorder: Recorder, clock: Clock) -> None:
    for number in range(10):
        say(recorder, f"message {number}")
    say(recorder, "one more", reason="BackOff")
    assert recorder.events()[-1]["message"] == "one more"
    clock.now_ns += 10 * MINUTE + 1
    say(recorder, "after a pause")
    assert recorder.events()[-1]["message"] == "after a pause"


def test_only_the_newest_events_are_kept(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVENTS_MAX", 3)
    for number in range(5):
        say(recorder, uid=f"u{number}")
    assert [event["object"] for event in recorder.events()] == ["default/u2", "default/u3", "default/u4"]


def test_listeners_get_the_events_that_pass_the_filter(recorder: Recorder) -> None:
    heard: list[dict[str, Any]] = []
    recorder.listeners.append(lambda uid, event: heard.append({**event, "uid": uid}))
    for _ in range(30):
        say(recorder)
    assert [event["count"] for event in heard] == list(range(1, 26))
    assert {event["uid"] for event in heard} == {"u"}


def test_another_wording_does_not_change_the_number_of_events(clock: Clock) -> None:
    def kept(*, counted: bool) -> tuple[list[tuple[int, int, bool]], int, list[str]]:
        recorder = Recorder(clock.now, clock.wall_ms)
        for number in range(40):
            # Each text fails twice in a row, as in a container whose failures keep changing.
            message, streak = f"Liveness probe failed: text {number // 2}", number % 2 + 1
            shown = message.replace(" failed", f" failed ({streak} of 2)") if counted else ""
            recorder.record("u", "default/u", "Warning", "Unhealthy", message, "spec.containers{app}", shown=shown)
        events = recorder.events()
        places = [(event["seq"], event["count"], event["message"].startswith("(combined")) for event in events]
        return places, recorder.dropped, [event["message"] for event in events]

    plain, counted = kept(counted=False), kept(counted=True)
    assert counted[:2] == plain[:2]
    assert [re.sub(r" \(\d of 2\)", "", message) for message in counted[2]] == plain[2]
    assert any("(2 of 2)" in message for message in counted[2]), "the newest is shown"
    assert any(message.startswith("(combined from similar events): Liveness probe failed (") for message in counted[2])
