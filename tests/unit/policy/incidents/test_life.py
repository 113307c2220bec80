"""An incident begins, grows, turns out to be another, and ends."""

from probelet.policy.incidents import Began, Ended, Grew, Reclassified

from tests.unit.policy.incidents.scene import START, Scene, three_apps

READINESS = ("readiness",)


def test_it_begins_once_and_ends_a_period_after_the_last_failure() -> None:
    scene = three_apps()
    pods = scene.pods("a", "b", "c")
    scene.fail(pods, probes=READINESS)
    scene.recover(pods)
    assert scene.ended() == []
    recovered = scene.now
    scene.to(scene.now + 30)
    [began] = scene.began()
    [ended] = scene.ended()
    assert began.since_ms == START + 60_000
    assert ended.id == began.id
    assert ended.ended_ms is not None
    assert began.since_ms < ended.ended_ms <= START + recovered * 1_000 + 1
    assert scene.open == []


def test_one_workload_turns_out_to_be_the_first_of_three() -> None:
    scene = three_apps()
    scene.fail(scene.pods("a"), probes=READINESS)
    assert scene.only().kind == "workload"
    scene.attempts(scene.pods("b", "c"), "header_timeout", probes=READINESS)
    scene.to(100)
    assert (scene.only().kind, scene.only().counts.pods) == ("shared", 9)
    assert [type(each) for each in scene.said if not isinstance(each, Grew)] == [Began, Reclassified]
    assert scene.only().since_ms == START + 60_000


def test_incidents_that_are_one_are_merged() -> None:
    scene = three_apps()
    for app in "abc":
        scene.attempts(scene.pods(app), "header_timeout", probes=READINESS)
        scene.to(scene.now + 6)
    scene.to(100)
    assert (scene.only().kind, scene.only().thing) == ("shared", "target db:5432")
    assert {each.incident.merged_into for each in scene.said if isinstance(each, Ended)} <= {scene.only().id}


def test_a_pod_that_has_the_thing_joins_at_once() -> None:
    scene = three_apps()
    scene.fail(scene.pods("a", "b", "c"), probes=READINESS)
    scene.add("f", 2, targets=("db:5432",))
    scene.to(200)
    scene.attempts(["f-0"], "header_timeout", probes=READINESS)
    scene.to(202)
    assert scene.only().counts.pods == 10
    assert isinstance(scene.said[-1], Grew)


def test_kills_meanwhile_are_counted_and_those_for_nothing_too() -> None:
    scene = three_apps()
    scene.fail(scene.pods("a", "b", "c"))
    scene.kill("a-0")
    scene.kill("b-1")
    assert (scene.only().killed, scene.only().killed_for_nothing) == (2, 2)


def test_a_kill_in_a_workloads_incident_is_not_for_nothing() -> None:
    scene = three_apps()
    scene.fail(scene.pods("a"))
    scene.kill("a-0")
    assert (scene.only().killed, scene.only().killed_for_nothing) == (1, 0)


def test_what_fails_after_a_kill_says_nothing_new() -> None:
    scene = three_apps()
    scene.fail(["a-0"], times=3, probes=("liveness",))
    scene.kill("a-0")
    scene.attempts(["a-0"], "refused")
    assert (scene.only().cause, scene.only().counts.probes) == ("header_timeout", 1)


def test_pods_that_are_deleted_end_it() -> None:
    scene = three_apps()
    scene.fail(scene.pods("b"))
    for pod in scene.pods("b"):
        scene.gone(pod)
    scene.to(scene.now + 30)
    assert [each.kind for each in scene.ended()] == ["workload"]


def test_a_hundredth_that_still_fails_does_not_keep_it_open() -> None:
    scene = Scene()
    for app in "abcde":
        scene.add(app, 20, targets=("db:5432",))
    scene.to(60)
    pods = scene.pods(*"abcde")
    scene.fail(pods, probes=READINESS)
    scene.recover(pods[1:], probes=READINESS)
    scene.to(scene.now + 30)
    assert [each.thing for each in scene.ended()] == ["target db:5432"]


def test_ten_thousand_pods_are_one_incident_with_a_short_text() -> None:
    scene = Scene()
    for number in range(100):
        scene.add(f"app{number}", 100, nodes=[f"n{each}" for each in range(50)], targets=("db:5432",), probes=READINESS)
    scene.to(60)
    scene.fail(list(scene.subjects), times=1)
    incident = scene.only()
    assert incident.counts.pods == 10_000
    assert len(incident.affected) == 5
    assert "and 95 more" in incident.evidence
    assert len(incident.evidence) < 1_000
    assert len([each for each in scene.said if isinstance(each, Grew)]) < 20


def test_long_names_are_cut() -> None:
    scene = Scene()
    for app in "abc":
        scene.add(app, 2, targets=("x" * 5_000,))
    scene.to(60)
    scene.fail(scene.pods(*"abc"), probes=READINESS)
    assert scene.only().kind == "shared"
    assert len(scene.only().evidence) < 1_000


def test_unknown_probes_and_pods_are_passed_over() -> None:
    scene, stranger = three_apps(), Scene()
    stranger.add("z")
    scene.give(stranger.turn(stranger.subjects["z-0"][0], "refused"))
    scene.kill("z-0")
    scene.exit("z-0")
    scene.subjects |= stranger.subjects
    scene.gone("z-0")
    scene.roll_out("z", "z:2")
    scene.to(200)
    assert scene.said == []
