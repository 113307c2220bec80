"""A stand-in behaves as its plan says, by a clock that the test moves; the streams of its HTTP/2."""

import math
import random
from pathlib import Path

import pytest
from probelet.lab.scenario import read_scenario
from probelet.lab.scenario.stand_in import behaviours, not_played
from probelet.runtime.embedded.stand_in import http2
from probelet.runtime.embedded.stand_in.behaving import Life
from probelet.runtime.embedded.stand_in.plan import Behaviour, Spread, Trouble
from probelet.spec.read.load import read_pods
from probelet.spec.read.objects import Rules

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: app, image: app, livenessProbe: {tcpSocket: {port: 80}, periodSeconds: 10, failureThreshold: 3}}
"""


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def life(clock: Clock, *troubles: Trouble, startup: Spread = Spread()) -> Life:  # noqa: B008
    return Life(Behaviour(startup=startup, troubles=list(troubles)), random.Random(1), clock)


def test_a_deadlock_lasts_until_its_end_and_a_restart_mends_it() -> None:
    clock = Clock()
    first = life(clock, Trouble("deadlock", at=110, until=130))
    assert first.blocked_for() == 0
    clock.now = 115
    assert first.blocked_for() == 15
    assert life(clock, Trouble("deadlock", at=110, until=130)).blocked_for() == 0
    clock.now = 130
    assert first.blocked_for() == 0
    clock.now = 100
    assert life(clock, Trouble("deadlock", at=100)).blocked_for() == math.inf


def test_a_process_exits_at_the_next_moment_and_not_again_after_its_restart() -> None:
    clock = Clock()
    exits = Trouble("exit", at=105, code=3), Trouble("exit", at=103, code=4)
    first = life(clock, *exits).exits()
    assert first is not None
    assert (first.at, first.code) == (103, 4)
    clock.now = 106
    assert life(clock, *exits).exits() is None


def test_pauses_come_once_in_each_period() -> None:
    clock = Clock()
    paused = life(clock, Trouble("gc-pause", at=100, lasts=2, every=10))
    blocked = []
    for tenth in range(600):
        clock.now = 100 + tenth / 10
        blocked.append(paused.blocked_for() > 0)
    assert sum(blocked) == pytest.approx(120, abs=2)
    assert max(len(run) for run in "".join("x" if each else " " for each in blocked).split()) <= 21


def test_a_start_takes_longer_while_the_fault_lasts() -> None:
    clock = Clock()
    slow = Trouble("startup-slow", at=100, until=110, lasts=30)
    assert life(clock, slow, startup=Spread(2, 2)).starts_after() == 32
    clock.now = 111
    assert life(clock, slow, startup=Spread(2, 2)).starts_after() == 2


def test_a_log_normal_length_has_its_median_and_percentile() -> None:
    source = random.Random(3)
    drawn = sorted(Spread(1.0, 4.0, is_log_normal=True).draw(source) for _ in range(4_000))
    assert drawn[2_000] == pytest.approx(1.0, rel=0.1)
    assert drawn[3_960] == pytest.approx(4.0, rel=0.25)


def test_a_scenario_says_how_containers_behave() -> None:
    file = read_scenario("""
apiVersion: probelet.dev/v1alpha1
kind: Scenario
dependencies: {db: {}}
containers:
- {match: web/app, startup: {ofBudget: 0.5}, latency: 40ms, probeLatency: {min: 1ms, max: 2ms}}
- {match: other, latency: 9s}
faults:
- {type: startup-slow, container: web, at: 10s, lasts: 5s, more: 3s}
- {type: exit, container: other, at: 10s}
- {type: node-slow, at: 10s}
""")
    (found,) = read_pods(Path("web.yaml"), POD, Rules()).pods
    made = behaviours(file, 1_000.0)("web", found.pod.spec.containers[0])
    # The probe waits for 20 s for sure, and half of that is 10 s.
    assert made.startup == Spread(10, 10)
    assert made.latency == Spread(0.001, 0.002)
    assert made.troubles == [Trouble("startup-slow", 1_010.0, 1_015.0, lasts=3.0)]
    assert not_played(file) == ["dependencies", "node-slow"]


def test_a_stream_is_answered_when_its_request_is_complete() -> None:
    requests = http2.Requests()
    assert requests.take(http2.HEADERS, http2.END_HEADERS, 1) is None
    assert requests.take(http2.DATA, http2.END_STREAM, 1) == http2.serving(1)
    assert requests.take(http2.HEADERS, http2.END_STREAM | http2.END_HEADERS, 3) == http2.text(3)
    assert requests.take(http2.HEADERS, http2.END_STREAM, 5) is None
    assert requests.take(http2.CONTINUATION, http2.END_HEADERS, 5) == http2.text(5)
    assert http2.frame(http2.SETTINGS, 0, 0) == b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
