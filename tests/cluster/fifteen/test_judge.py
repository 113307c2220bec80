"""What the judge of the fifteen pods says, by hand-made values."""

import re
from typing import Any

import pytest

from tests.cluster.fifteen.facts.turns import Life, Turns
from tests.cluster.fifteen.listed import LISTED, waits_like_a_crash, wakes, without_flags
from tests.cluster.fifteen.pods import NAMES, PODS, RESTARTED, of_side
from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.verdict.finding import different, explained
from tests.kubelet.beside.verdict.forget import NOTHING
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "cluster" / "agent.md").read_text()
POD = "readiness-turns"


def test_there_are_fifteen_pods() -> None:
    assert len(PODS) == len(NAMES) + 1 == 15


def test_every_rule_names_a_row_of_the_page_and_every_row_has_a_rule() -> None:
    anchors = re.findall(r'^\| <a id="([^"]+)"></a>', PAGE, re.MULTILINE)
    assert sorted(anchors) == sorted({one.anchor for one in LISTED})


def test_only_the_taken_side_asks_for_its_probes_to_be_taken_over() -> None:
    native, taken = (of_side(PODS[POD], taken=taken) for taken in (False, True))
    assert taken["metadata"]["labels"] == {**native["metadata"]["labels"], "probelet.dev/managed": "true"}
    assert taken["spec"] == native["spec"] == PODS[POD]["spec"]


def test_a_difference_without_a_rule_is_not_explained() -> None:
    pair = [Fact("Ready: turns", ["False", "True"])], [Fact("Ready: turns", ["False"])]
    (found,) = different(POD, "conditions", *pair, 1.0, LISTED)
    assert found.listed == ()


@pytest.mark.parametrize(
    ("native", "taken", "listed"),
    [
        ([0.1, 0.2, 12.0], [0.2, 11.0, 24.0], True),
        ([0.1, 0.2, 12.0], [0.2, 5.0, 24.0], False),
        ([0.1, 0.2, 12.0], [0.2, 19.0, 24.0], False),
        ([0.1, 9.0], [0.2, 11.0], False),
        (None, [0.2], False),
    ],
)
def test_our_waits_are_those_after_a_crash(native: Any, taken: Any, listed: bool) -> None:
    assert (waits_like_a_crash(native, taken, 1.0) == NOTHING) is listed


def test_two_kubelets_wakes_may_each_be_half_a_delay_late() -> None:
    assert wakes([0.1, 0.1, 14.9], [0.1, 0.2, 10.1], 1.0) == NOTHING
    assert wakes([0.1, 0.1, 14.9], [0.1, 0.2, 19.0], 1.0) != NOTHING


@pytest.mark.parametrize(
    ("native", "taken", "listed"),
    [
        ([2.8, 20.0], [5.1, 20.1], ("gate-waits",)),
        ([2.8, 20.0], [6.0, 20.1], ("gate-waits",)),
        ([2.8, 20.0], [7.2, 20.1], ()),
        ([2.8, 20.0], [5.1, 23.0], ()),
        ([5.1, 20.0], [2.8, 20.1], ()),
        ([2.8], [5.1, 20.1], ()),
        ([], [2.8], ()),
    ],
)
def test_only_the_first_turn_waits_until_the_kubelet_looks_again(
    native: list[float], taken: list[float], listed: tuple[str, ...]
) -> None:
    pair = [Fact("Ready: turns, after s", native, 2.0)], [Fact("Ready: turns, after s", taken, 2.0)]
    (found,) = different(POD, "conditions", *pair, 1.0, LISTED)
    assert found.listed == listed


@pytest.mark.parametrize(("native", "taken", "listed"), [(4, 6, ("asked-at-its-start",)), (4, 7, ()), (6, 4, ())])
def test_the_startup_probe_makes_one_attempt_of_the_tcp_pods(native: int, taken: int, listed: tuple[str, ...]) -> None:
    name = "app 0: tcp tcp: how many"
    (found,) = different("tcp", "probes", [Fact(name, native, 1)], [Fact(name, taken, 1)], 1.0, LISTED)
    assert found.listed == listed


def test_events_about_incidents_are_ours_alone_and_no_other_event_is() -> None:
    began = "Warning IncidentBegan : incident 1a2-3 begins: container app: its readiness probe failed"
    for extra, listed in ((began, ("incident-events",)), ("Warning Unhealthy : IncidentBegan ", ())):
        (found,) = different(POD, "events", [Fact("events", [])], [Fact("events", [extra])], 1.0, LISTED)
        assert found.listed == listed


def test_a_row_of_a_status_loses_only_its_flags() -> None:
    native = ["running ready started restarts=0", "running started restarts=0", "running ready started restarts=1"]
    taken = ["running ready started restarts=0", "running ready started restarts=1"]
    assert len({tuple(rows) for rows in without_flags(native, taken, 1.0)}) == 1
    assert explained([one for one in LISTED if one.anchor == "containers-ready"], native, taken[:1], Fact("", [])) == ()


def test_a_dip_is_not_a_turn() -> None:
    rows = [(0.0, "False"), (1.0, "True"), (5.0, "False"), (5.2, "True"), (9.0, "False"), (11.0, "True")]
    kept = [value for _, value in Turns.of(rows, 99.0).without_dips("True", POD).rows]
    assert kept == ["False", "True", "False", "True"]


def test_a_restart_at_once_is_a_dip_also_on_a_busy_machine() -> None:
    rows = [(0.0, "True"), (7.0, "False"), (8.9, "True"), (16.2, "False"), (30.9, "True")]
    assert Turns.of(rows, 99.0).without_dips("True", RESTARTED[0]).rows == [rows[0], *rows[3:]]
    assert Turns.of(rows, 99.0).without_dips("True", POD).rows == rows


def test_turns_are_compared_until_the_first_back_off_of_either_side() -> None:
    mine = Turns.of([(0.0, "False"), (1.0, "True"), (20.0, "False"), (31.0, "True")], 99.0)
    theirs = Turns.of([(0.0, "False"), (1.1, "True"), (12.0, "False")], 99.0)
    pair = (Life(0.5, 15.0), Life(0.5, 11.0))
    facts = mine.facts("x", theirs, POD, *pair), theirs.facts("x", mine, POD, *pair[::-1])
    assert [fact.value for fact in facts[0]] == [["False", "True"], [0.5]]
    assert all(a.equals(b) for a, b in zip(*facts, strict=True))
