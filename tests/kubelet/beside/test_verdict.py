"""What the comparison says about two sides, by hand-made values."""

import re
from typing import Any

import pytest

from tests.kubelet.beside.__main__ import recurring, verdict
from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.seen.kubelet_events import events_of_log
from tests.kubelet.beside.verdict.finding import Finding, explained
from tests.kubelet.beside.verdict.forget import later, later_wakes, only_kubelet, replaced
from tests.kubelet.beside.verdict.listed import LISTED, Listed
from tests.kubelet.beside.verdict.report import rows, table
from tests.support.paths import ROOT

LIST, MOMENTS = Fact("", []), Fact("", [], slack=0.2)
PARITY = (ROOT / "docs" / "kubelet-parity.md").read_text()


def rule(forget: Any, anchor: str = "one") -> Listed:
    return Listed(anchor, ".*", ".*", forget)


def finding(name: str, *listed: str, pod: str = "crash") -> Finding:
    return Finding(pod, "events", name, ["a"], ["b"], listed)


def test_every_rule_names_a_row_of_the_parity_page() -> None:
    anchors = re.findall(r'^\| <a id="([^"]+)"></a>', PARITY, re.MULTILINE)
    assert {one.anchor for one in LISTED} - {*anchors} == set()
    assert len(anchors) == len({*anchors})


@pytest.mark.parametrize(
    ("mine", "theirs", "slack", "same"),
    [
        ([1.0, None], [1.2, None], 0.3, True),
        ([1.0], [1.4], 0.3, False),
        ([1.0], [1.0, 2.0], 9.0, False),
        (None, 0.1, 9.0, False),
        (["a"], ["a", "b"], None, False),
    ],
)
def test_two_values_are_equal_within_their_slack(mine: Any, theirs: Any, slack: float | None, same: bool) -> None:
    assert Fact("", mine, slack).equals(Fact("", theirs, slack)) is same


def test_rules_together_explain_a_difference_only_whole() -> None:
    rules = [rule(only_kubelet("^config"), "config"), rule(replaced("-node$"), "names")]
    assert explained(rules, ["a-node", "config.seen"], ["a"], LIST) == ("config", "names")
    assert explained(rules, ["a-node", "b", "config.seen"], ["a"], LIST) == ()
    assert explained(rules, ["a-node", "config.seen"], None, LIST) == ()
    assert explained(rules[:1], ["config.seen"], [], LIST) == ("config",)


def test_a_moment_may_be_later_on_one_side_only() -> None:
    late = [rule(later("kubelet", 1.0))]
    assert explained(late, [2.9], [2.0], MOMENTS) == ("one",)
    assert explained(late, [2.0], [2.9], MOMENTS) == ()
    assert explained(late, [3.1], [2.0], MOMENTS) == ()
    assert explained(late, [3.0, 4.0], [3.0], MOMENTS) == ()


@pytest.mark.parametrize(
    ("kubelet", "probelet", "listed"),
    [
        ([12.9, 24.2], [10.3, 20.3], True),
        ([12.9, 8.0], [10.3, 20.3], False),
        ([12.9, 24.2], [9.0, 20.3], False),
        ([30.1], [10.3], False),
        (None, [10.3], False),
    ],
)
def test_a_kubelet_wakes_late_by_half_a_delay_at_most(kubelet: Any, probelet: Any, listed: bool) -> None:
    assert bool(explained([rule(later_wakes(exact=True))], kubelet, probelet, MOMENTS)) is listed


def test_a_difference_that_does_not_come_again_does_not_count() -> None:
    before = [finding("one"), finding("two"), finding("three", "late-wake"), finding("four", pod="(node)")]
    assert recurring(before, [finding("two"), finding("one", "late-wake")]) == before[1:]


def test_only_a_difference_that_is_not_listed_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict([finding("one", "late-wake")]) == 0
    said = capsys.readouterr().out
    assert "listed, but nothing differed: help-texts" in said
    assert "nothing differed: late-wake" not in said
    assert verdict([finding("one", "late-wake"), finding("two")]) == 1
    assert "2 differences, 1 of them not on" in capsys.readouterr().out


def test_the_table_and_the_rows_say_what_is_not_listed() -> None:
    found = [finding("one"), finding("two", "late-wake"), finding("two", "late-wake", pod="grpc")]
    lines = table(["crash", "grpc", "tcp"], found)
    assert [re.split(r"\s{2,}", line)[4] for line in lines[1:4]] == ["1 differ", "listed", "same"]
    assert rows(found) == [
        "NOT LISTED: events: one (crash)",
        "    kubelet:  a",
        "    probelet: b",
        "late-wake: events: two (crash, grpc)",
        "    kubelet:  a",
        "    probelet: b",
    ]


def test_events_are_read_from_a_kubelets_log() -> None:
    begin = 'I1122 17:00:00.000000       1 event.go:389] "Event occurred" object="default/crash-node-a"'
    about = 'fieldPath="spec.containers{app}" kind="Pod" apiVersion="v1" type="Warning" reason="Unhealthy"'
    log = f'{begin} {about} message="said \\"no\\""\nother\n{begin} {about} message=<\n\tfirst\n\tsecond\n >\n'
    messages = [(event["pod"], event["reason"], event["message"]) for event in events_of_log(log)]
    assert messages == [("crash", "Unhealthy", 'said "no"'), ("crash", "Unhealthy", "first\nsecond\n")]
