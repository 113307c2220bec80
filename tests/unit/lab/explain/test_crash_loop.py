"""The plateau of the crash loop beside a node that plays it."""

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from probelet._rust import Backoff
from probelet.lab.explain import CrashLoop, Span, crash_loop
from probelet.spec.text.duration import SECOND
from probelet.testing import VirtualNode

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: app
    image: i
    livenessProbe: {exec: {command: [ok]}, initialDelaySeconds: LIFE, periodSeconds: 1, failureThreshold: 1}
"""


def waits(folder: Path, life: int) -> list[tuple[int, int]]:
    """Of each restart of a container that is killed ``life`` seconds after each start: the end of the life before, and
    the wait."""
    manifest = folder / "pod.yaml"
    manifest.write_text(POD.replace("LIFE", str(life)))
    node = VirtualNode(manifest, kill="0s")
    node.answer("web/app/liveness", "failure 0ms")
    while len(node.kills) < 12:
        node.run("1m")
    ends = [round(kill.at) for kill in node.kills]
    return [(end, following - life - end) for end, following in pairwise(ends)]


@pytest.mark.parametrize("life", [3, 25, 150, 299, 310])
def test_a_node_waits_as_explained(tmp_path: Path, life: int) -> None:
    plateau, restart, reached = crash_loop(Span(life, life, life))
    played = waits(tmp_path, life)
    assert {wait for _, wait in played[restart - 1 :: 2]} == {plateau}
    assert {wait for _, wait in played[restart::2]} == {0}
    assert played[restart - 1][0] == reached.earliest == reached.latest
    assert all(wait < 300 for _, wait in played[: restart - 1])


def first_long_wait(rng: Random, lives: Span) -> tuple[int, int]:
    """The first restart that waits 300 s under the production back-off, and the end of the life before it."""
    table, now, before, wait = Backoff(), 0, None, 0
    is_slow = rng.random() < 0.5
    for restart in range(1, 20):
        # A life that just outlasts the rest of the delay, or just does not, is an extreme too.
        rest = table.delay_ns("c") // SECOND - wait
        life = rng.choice([lives.latest, rest - 1] if is_slow else [lives.earliest, rest])
        now = ended = now + SECOND * min(max(life, lives.earliest), lives.latest)
        waited = False
        while before is not None:
            answer = table.back_off("c", now_ns=now, finished_ns=ended if waited else before)
            if answer.word == "start":
                break
            waited, now = True, answer.due_ns
        wait = (now - ended) // SECOND
        if wait == 300:
            return restart, ended // SECOND
        before = ended
    raise AssertionError("no restart waits 300 s")


@pytest.mark.parametrize("lives", [Span(5, 10, 15), Span(30, 60, 170), Span(120, 130, 299)], ids=str)
def test_lives_of_any_lengths_reach_the_plateau_within_the_bounds(lives: Span) -> None:
    rng = Random(1)
    _, restart, reached = crash_loop(lives)
    played = [first_long_wait(rng, lives) for _ in range(2_000)]
    ends = [end for _, end in played]
    assert reached.earliest <= min(ends) <= reached.earliest * 1.05
    assert reached.latest * 0.95 <= max(ends) <= reached.latest
    assert min(each for each, _ in played) == restart


def test_lives_that_may_outlast_the_longest_delay_may_still_wait_it() -> None:
    assert crash_loop(Span(200, 250, 400)).plateau_seconds == 300
    assert crash_loop(Span(300, 350, 400)) == CrashLoop(0, 1, Span(300, 350, 400))
