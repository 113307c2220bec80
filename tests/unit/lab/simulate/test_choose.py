"""Which changes become advice: only what was played, and only what helps."""

from typing import Any

from probelet.lab.picture.document import VerdictRow
from probelet.lab.scenario.pattern import Template
from probelet.lab.simulate.advice.change import Change, joined
from probelet.lab.simulate.advice.choose import Chooser, helps
from probelet.lab.simulate.advice.together import pairs
from probelet.lab.simulate.manifests import Workload
from probelet.spec.model.pod import Pod

WEB = Workload("Deployment", "default", "web", Template("Deployment", Pod()), 0, "spec.template.spec")


def result(lost: int, *, kills: int = 0, unready: int = 0, recovered: bool = True, late: int = 0) -> VerdictRow:
    return VerdictRow(
        recovered=recovered,
        recovers_after_seconds=0.0 if recovered else None,
        first_unready_seconds=None,
        unready_pods_max=unready,
        first_kill_seconds=None,
        kills=kills,
        restarts=kills,
        requests={"offered": 100_000, "served": 100_000 - lost, "late": late, "lost": lost},
        longest_outage_seconds=0.0,
    )


def change(name: str, value: int) -> Change:
    return Change(name, WEB, f"spec.{name}", "1", str(value), "why", {f"spec.{name}": value})


def chosen(
    base: VerdictRow, ladders: dict[str, list[VerdictRow | None]], most: int = 20
) -> tuple[list[str], list[str]]:
    """The advice, and what was played for it."""
    played: list[str] = []
    outcomes: dict[str, Any] = {}
    made = []
    for name, results in ladders.items():
        ladder = [change(name, number) for number in range(len(results))]
        outcomes |= {f"{name}={number}": each for number, each in enumerate(results)}
        made.append(ladder)

    def play(tried: Change) -> VerdictRow | None:
        key = f"{tried.id}={tried.new}"
        played.append(key)
        return outcomes[key]

    chooser = Chooser(base, play)
    tried = chooser.add(made, most)
    advice = chooser.best
    assert tried == len([key for key in played if outcomes[key] is not None])
    return [f"{row['id']}={row['new']}" for row in advice], played


def test_the_mildest_rung_that_is_enough_ends_a_ladder() -> None:
    advice, played = chosen(result(1_000, unready=3), {"timeout": [result(0), result(0)]})
    assert (advice, played) == (["timeout=0"], ["timeout=0"])


def test_a_stronger_rung_counts_only_if_it_is_better() -> None:
    ladder = [result(500, unready=2), result(480, unready=2), result(100, unready=1)]
    advice, played = chosen(result(1_000, unready=3), {"timeout": list(ladder)})
    assert (advice, len(played)) == (["timeout=2"], 3)


def test_the_best_comes_first_and_of_equals_the_first() -> None:
    advice, _ = chosen(result(1_000), {"a": [result(300)], "b": [result(0)], "c": [result(0)], "d": [result(200)]})
    assert advice == ["b=0", "c=0", "d=0"]


def test_what_does_not_help_is_no_advice() -> None:
    assert chosen(result(1_000), {"a": [result(950), result(2_000)], "b": [result(1_000)]})[0] == []


def test_a_service_that_recovers_is_worth_more_than_fewer_lost_requests() -> None:
    assert helps(result(5_000), result(1_000, recovered=False))
    assert not helps(result(10, recovered=False), result(1_000))


def test_fewer_kills_help_if_no_more_requests_are_lost() -> None:
    assert helps(result(1_000, kills=1), result(1_000, kills=3))
    assert not helps(result(1_001, kills=1), result(1_000, kills=3))
    assert not helps(result(1_000, unready=1, kills=4), result(1_000, unready=3, kills=3))


def test_the_number_of_plays_is_bounded_and_an_interrupted_play_ends_them() -> None:
    advice, played = chosen(result(1_000), {"a": [result(900), result(800)], "b": [result(0)]}, most=2)
    assert (advice, played) == (["a=1"], ["a=0", "a=1"])
    advice, played = chosen(result(1_000), {"a": [result(0)], "b": [None], "c": [result(0)]})
    assert (advice, played) == (["a=0"], ["a=0", "b=0"])


def test_a_change_of_more_is_given_only_where_it_saves_much_more() -> None:
    outcomes = {"one": result(500), "same": result(495), "both": result(0)}
    chooser = Chooser(result(1_000), lambda tried: outcomes[tried.id])
    assert chooser.add([[change("one", 1)]], 5) == 1
    assert chooser.add([[change("same", 1)], [change("both", 1)], [change("one", 2)]], 2, beats=True) == 2
    assert [row["id"] for row in chooser.best] == ["both", "one"]
    assert chooser.is_enough


def test_changes_that_are_made_together_are_one_change_of_several_fields() -> None:
    made = joined("both", [change("one", 1), joined("more", [change("two", 2), change("three", 3)], "why")], "why")
    assert [part.id for part in made.parts] == ["both", "more", "three"]
    assert all(not part.also for part in made.parts)
    assert made.effects == {("Deployment/default/web", "", f"spec.{name}", value) for name, value in EFFECTS}
    found = [
        [each.id for each in ladder] for ladder in pairs([[change("one", 1)], [change("one", 2)], [change("two", 1)]])
    ]
    assert found == [["one+two"], ["one+two"]]


EFFECTS = (("one", "1"), ("two", "2"), ("three", "3"))
