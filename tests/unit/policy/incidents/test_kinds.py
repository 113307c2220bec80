"""The pods that fail, and the pods that do not, tell each kind of incident from the others."""

from tests.unit.policy.incidents.scene import Scene, three_apps

READINESS = ("readiness",)


def test_workloads_that_ask_one_dependency_share_it() -> None:
    scene = three_apps()
    scene.fail(scene.pods("a", "b", "c"), probes=READINESS)
    incident = scene.only()
    assert (incident.kind, incident.thing, incident.cause) == ("shared", "target db:5432", "header_timeout")
    assert incident.counts.pods == incident.counts.containers == incident.counts.probes == 9
    assert (incident.counts.workloads, incident.counts.nodes) == (3, 3)
    assert "9 of 9 pods that ask db:5432 fail" in incident.evidence
    assert "0 of 6 others do" in incident.evidence


def test_without_a_name_workloads_that_fail_together_share_something() -> None:
    scene = Scene()
    for app in "abcde":
        scene.add(app, 3, nodes=("n1", "n2", "n3"))
    scene.to(60)
    scene.fail(scene.pods("a", "b", "c"), probes=READINESS)
    assert (scene.only().kind, scene.only().thing) == ("shared", "")


def test_a_workload_that_names_no_target_belongs_to_the_others() -> None:
    scene = three_apps()
    scene.fail(scene.pods("a", "b", "c", "d"), probes=READINESS)
    assert (scene.only().thing, scene.only().counts.pods) == ("target db:5432", 12)
    assert "1 workload among them that names no target" in scene.only().evidence


CAUSES = (("a", "exec_timeout"), ("b", "exec_exit"), ("c", "refused"))
"""One thing that is gone, as three workloads see it: one waits in vain, one says so itself, one is refused."""


def test_a_target_that_is_gone_fails_each_in_its_own_way() -> None:
    scene = three_apps()
    for app, cause in CAUSES:
        scene.attempts(scene.pods(app), cause, probes=READINESS)
    scene.to(80)
    assert (scene.only().kind, scene.only().thing, scene.only().counts.pods) == ("shared", "target db:5432", 9)


def test_a_pod_that_asks_a_gone_target_later_belongs_to_its_incident() -> None:
    scene = three_apps()
    scene.fail(scene.pods("a", "b"), "exec_timeout", times=1, probes=READINESS)
    scene.fail(scene.pods("c"), "refused", times=1, probes=READINESS)
    assert (scene.only().thing, scene.only().counts.pods) == ("target db:5432", 9)


def test_single_pods_of_workloads_and_nodes_of_their_own_share_the_target_they_ask() -> None:
    scene = Scene()
    for number, (app, _) in enumerate(CAUSES):
        scene.add(app, nodes=(f"n{number}",), targets=("db:5432",), probes=READINESS)
    for app in "def":
        scene.add(app, 2, nodes=("n0", "n1", "n2"), probes=READINESS)
    scene.to(60)
    for _ in range(2):
        for app, cause in CAUSES:
            scene.attempts(scene.pods(app), cause)
        scene.to(scene.now + 10)
    assert (scene.only().thing, scene.only().counts.pods) == ("target db:5432", 3)


def test_workloads_that_fail_at_once_share_something_whatever_their_causes() -> None:
    scene = Scene()
    for app in "abcdef":
        scene.add(app, 5, nodes=("n1", "n2", "n3"))
    scene.to(60)
    for app, cause in CAUSES:
        scene.attempts(scene.pods(app), cause)
    scene.to(80)
    assert (scene.only().kind, scene.only().thing, scene.only().counts.pods) == ("shared", "", 15)


def test_most_of_one_node_is_the_node() -> None:
    scene = three_apps()
    here = [pod for pod, subjects in scene.subjects.items() if subjects[0].node == "n2"]
    scene.fail(here)
    assert (scene.only().kind, scene.only().thing) == ("node", "node n2")
    assert "5 of 5 pods on n2 fail" in scene.only().evidence


def test_single_pods_of_one_node_of_several_are_the_node_with_the_first_failure_of_each() -> None:
    """As workloads of one pod each they share something without a name, and their node is the name for that."""
    scene = Scene()
    for app in "abcdef":
        scene.add(app, probes=READINESS)
    for app in "ghij":
        scene.add(app, nodes=("n2",), probes=READINESS)
    scene.to(60)
    scene.fail(scene.pods(*"abcd"), "unreachable", times=1)
    [began] = scene.began()
    assert (began.kind, began.thing) == ("node", "node n1")
    assert "4 of 6 pods on n1 fail" in began.evidence


def test_single_pods_of_the_only_node_that_answer_share_something() -> None:
    scene = Scene()
    for app in "abcdef":
        scene.add(app)
    scene.to(60)
    scene.fail(scene.pods(*"abcd"), "status", times=1, probes=READINESS)
    assert [began.kind for began in scene.began()] == ["shared"]


def test_a_node_that_is_cut_off_fails_what_asks_beyond_it() -> None:
    scene = three_apps()
    here = [pod for pod in scene.pods("a", "b", "c") if scene.subjects[pod][0].node == "n2"]
    scene.fail(here, probes=READINESS)
    assert (scene.only().kind, scene.only().thing) == ("node", "node n2")


def test_connections_that_fail_on_the_only_node_are_the_nodes() -> None:
    scene = Scene()
    for app in "abcd":
        scene.add(app, 2)
    scene.to(60)
    scene.fail(scene.pods(*"abcd"), "unreachable", probes=READINESS)
    assert (scene.only().kind, scene.only().thing) == ("node", "node n1")


def test_most_of_one_workload_is_the_workload() -> None:
    scene = three_apps()
    scene.fail(scene.pods("b"), "status")
    assert (scene.only().kind, scene.only().thing) == ("workload", "workload default/Deployment/b")


def test_the_pods_of_a_new_version_are_the_rollouts() -> None:
    scene = three_apps()
    scene.roll_out("b", "b:2")
    scene.add("b", 2, nodes=("n1", "n2"), image="b:2", first=3)
    scene.to(70)
    scene.fail(["b-3", "b-4"], "status")
    assert (scene.only().kind, scene.only().thing) == ("workload", "rollout default/Deployment/b")
    assert "image b:2" in scene.only().evidence


def test_the_first_pod_of_a_new_version_that_crashes_says_enough() -> None:
    scene = three_apps()
    scene.roll_out("b", "b:2")
    scene.add("b", 1, image="b:2", first=3)
    scene.to(70)
    scene.exit("b-3")
    scene.to(82)
    assert (scene.only().kind, scene.only().thing) == ("workload", "rollout default/Deployment/b")


def test_a_prober_that_is_late_is_at_fault_and_no_other() -> None:
    scene = three_apps()
    here = [pod for pod, subjects in scene.subjects.items() if subjects[0].node == "n2"]
    scene.fail(here, late=900.0)
    assert (scene.only().kind, scene.only().thing) == ("prober", "node n2")
    assert "its prober is late in" in scene.only().evidence


def test_one_container_alone_is_said_at_its_threshold() -> None:
    scene = three_apps()
    scene.fail(["a-0"], times=2, probes=READINESS)
    assert scene.open == []
    scene.fail(["a-0"], times=1, probes=READINESS)
    assert (scene.only().kind, scene.only().thing) == ("container", "container default/a-0/main")
    assert "0 of 2 other pods" in scene.only().evidence


def test_two_probes_of_a_container_that_fail_twice_say_as_much() -> None:
    scene = three_apps()
    scene.fail(["a-0"], times=2)
    assert scene.only().kind == "container"


def test_a_single_failure_is_none() -> None:
    scene = three_apps()
    for pod in scene.subjects:
        scene.attempts([pod], "header_timeout")
        scene.to(scene.now + 10)
        scene.recover([pod])
        scene.to(scene.now + 60)
    assert scene.said == []


def test_pods_that_start_are_none() -> None:
    scene = Scene()
    for app in "abc":
        scene.add(app, 3, nodes=("n1", "n2", "n3"), well=False)
    scene.fail(scene.pods(*"abc"), "refused", times=4)
    scene.recover(scene.pods(*"abc"))
    assert scene.said == []


def test_two_things_at_once_are_two_incidents() -> None:
    scene = three_apps()
    scene.add("f", 4, nodes=("n1", "n2", "n3"))
    scene.to(70)
    scene.attempts(scene.pods("f"), "status")
    scene.attempts(scene.pods("a", "b", "c"), "header_timeout", probes=READINESS)
    scene.to(85)
    things = {(each.kind, each.thing) for each in scene.open}
    assert things == {("shared", "target db:5432"), ("workload", "workload default/Deployment/f")}
