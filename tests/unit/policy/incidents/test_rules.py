"""The rules of the detector, each in a cluster in which no other rule decides."""

from probelet.policy.incidents import Grew

from tests.unit.policy.incidents.scene import Scene, names, three_apps

READINESS = ("readiness",)


def test_workloads_that_fail_on_one_node_and_nowhere_else_are_the_node_also_if_most_of_it_is_well() -> None:
    scene = Scene()
    for app in "abcdefghij":
        scene.add(app, 2, nodes=("n1", "n2"), probes=READINESS)
    scene.to(60)
    scene.fail(["a-0", "b-0", "c-0"])
    assert (scene.only().kind, scene.only().thing) == ("node", "node n1")


def test_a_target_explains_nothing_if_those_who_do_not_ask_it_fail_as_well() -> None:
    scene = Scene()
    for app in "ab":
        scene.add(app, 3, nodes=("n1", "n2", "n3"), targets=("db:5432",), probes=READINESS)
    for app in "cdef":
        scene.add(app, 2, nodes=("n1", "n2"), targets=("cache",), probes=READINESS)
    scene.to(60)
    scene.fail([*scene.pods("a", "b"), "c-0", "d-0", "e-1", "f-1"])
    assert (scene.only().kind, scene.only().thing, scene.only().counts.pods) == ("shared", "", 10)


def test_workloads_share_nothing_if_a_quarter_and_more_of_the_others_fail() -> None:
    scene = Scene()
    nodes = ("n1", "n2", "n3", "n4", "n5")
    for number, app in enumerate("abc"):
        scene.add(app, nodes=nodes[number:], probes=READINESS)
    for app in "defg":
        scene.add(app, 5, nodes=nodes, probes=READINESS)
    scene.to(60)
    scene.fail(["a-0", "b-0", "c-0", "d-3", "d-4", "e-0", "e-4", "f-1", "f-2"], times=3)
    assert {each.kind for each in scene.open} == {"container"}


def test_new_versions_that_fail_at_once_are_a_rollout_each() -> None:
    scene = three_apps()
    scene.add("g", 20, nodes=("n1", "n2", "n3"))
    for app in "abc":
        scene.roll_out(app, f"{app}:2")
        scene.add(app, 3, nodes=("n1", "n2"), image=f"{app}:2", first=3)
    scene.to(70)
    scene.fail([f"{app}-{number}" for app in "abc" for number in (3, 4, 5)], "status")
    assert set(names(scene.open)) == {("workload", f"rollout default/Deployment/{app}") for app in "abc"}


def test_pods_of_the_only_node_of_which_all_probes_fail_are_the_nodes() -> None:
    scene = Scene()
    for app in "abcd":
        scene.add(app, 2)
    scene.to(60)
    scene.fail(scene.pods(*"abcd"), times=1)
    assert (scene.only().kind, scene.only().thing) == ("node", "node n1")


def test_one_who_fails_later_on_a_node_belongs_to_it_whatever_the_cause() -> None:
    scene = three_apps()
    scene.add("f", nodes=("n2",), probes=READINESS)
    here = [pod for pod, subjects in scene.subjects.items() if subjects[0].node == "n2" and pod != "f-0"]
    scene.fail(here, times=20)
    scene.fail(["f-0"], "status", times=3)
    assert (scene.only().thing, scene.only().counts.pods) == ("node n2", len(here) + 1)


def test_an_incident_that_grows_says_so_once_for_all_that_came() -> None:
    scene = three_apps()
    scene.fail(scene.pods("a", "b"), probes=READINESS)
    scene.fail(scene.pods("c"), probes=READINESS, times=3)
    grown = [each.incident.counts.pods for each in scene.said if isinstance(each, Grew)]
    assert grown[-1] == 9
    assert len(set(grown)) == len(grown), "an attempt that fails again is no news"


def test_the_same_outage_a_second_time_is_a_second_incident() -> None:
    scene = three_apps()
    for _ in range(2):
        scene.fail(scene.pods("a", "b", "c"), probes=READINESS)
        scene.recover(scene.pods("a", "b", "c"))
        scene.to(scene.now + 30)
    first, second = scene.began()
    assert first.id != second.id
    assert [each.id for each in scene.ended()] == [first.id, second.id]


def test_a_workload_that_turned_out_to_be_part_of_something_is_no_thing_of_it_any_more() -> None:
    scene = three_apps()
    scene.fail(scene.pods("a"), probes=READINESS)
    scene.fail(scene.pods("b", "c"), probes=READINESS)
    assert scene.only().thing == "target db:5432"
    scene.to(scene.now + 100)
    scene.add("a", first=3, probes=("liveness",))
    scene.to(scene.now + 10)
    scene.fail(["a-3"], "status", times=3)
    assert set(names(scene.open)) == {("shared", "target db:5432"), ("container", "container default/a-3/main")}


def test_an_incident_of_which_most_is_well_again_is_not_striking() -> None:
    scene = three_apps()
    scene.fail(scene.pods("a", "b", "c"), probes=READINESS)
    struck = scene.detector.striking("a-0")
    assert struck is not None
    assert struck.thing == "target db:5432"
    scene.recover(["b-0", "b-1", "b-2", "c-0"], probes=READINESS)
    assert scene.detector.striking("a-0") is not None, "five of nine"
    scene.recover(["c-1"], probes=READINESS)
    assert scene.detector.striking("a-0") is None
    assert scene.open, "it is not over"


def test_a_pod_that_takes_twice_as_long_as_any_of_its_workload_to_start_is_in_trouble() -> None:
    scene = Scene()
    scene.add("b")
    scene.to(500)
    scene.add("a", probes=READINESS, well=False)
    scene.to(520)
    scene.recover(["a-0"])
    scene.to(600)
    scene.add("a", first=1, probes=READINESS, well=False)
    scene.fail(["a-1"], "refused", times=4)
    assert scene.open == []
    scene.fail(["a-1"], "refused", times=3)
    assert (scene.only().kind, scene.only().thing) == ("container", "container default/a-1/main")


def test_where_every_node_fails_none_of_them_is_at_fault() -> None:
    scene = Scene()
    for app in "abcd":
        scene.add(app, 2, nodes=("n1", "n2"))
    scene.to(60)
    scene.fail(scene.pods(*"abcd"))
    assert (scene.only().kind, scene.only().thing, scene.only().counts.pods) == ("shared", "", 8)


def test_on_the_only_node_a_workload_and_one_more_pod_are_not_the_node() -> None:
    """One of four is well, and a workload that fails as a whole is no example of one that should be well."""
    scene = Scene()
    scene.add("a", 2, probes=READINESS)
    for app in "bc":
        scene.add(app, probes=READINESS)
    scene.to(60)
    scene.fail(["a-0", "a-1", "b-0"], times=3)
    expected = {("workload", "workload default/Deployment/a"), ("container", "container default/b-0/main")}
    assert set(names(scene.open)) == expected


def test_a_node_is_not_at_fault_if_the_only_pod_elsewhere_fails_too() -> None:
    scene = Scene()
    scene.add("a", nodes=("n2",), probes=READINESS)
    scene.add("b", 2, nodes=("n1", "n2"), probes=READINESS)
    scene.add("c", nodes=("n2",), probes=READINESS)
    scene.to(60)
    scene.fail(scene.pods(*"abc"), times=3)
    assert [*names(scene.open)] == [("shared", "")]


def test_pods_that_fail_on_one_node_beside_well_ones_of_their_workloads_are_not_the_node() -> None:
    scene = Scene()
    for app in "abcde":
        scene.add(app, 4, nodes=("n1", "n2"), probes=READINESS)
    scene.to(60)
    scene.fail(["a-0", "b-0", "c-0"], times=3)
    assert set(names(scene.open)) == {("container", f"container default/{app}-0/main") for app in "abc"}
