"""What the node in virtual time leaves to its workload, and what a pod's own machine does on it."""

from probelet.policy.facts.probe_state import ProbeState
from probelet.policy.facts.snapshot import Snapshot, State
from probelet.policy.node.restart_gate import RestartGate
from probelet.policy.protocol.effects import CreateContainer, PullImage, RunSandbox, StartContainer
from probelet.policy.protocol.inputs import Release, Terminate
from probelet.virtual.node import SimulatedNode
from probelet.virtual.prober import GivenResults
from probelet.virtual.workload import Workload

from tests.unit.virtual.scene import SECOND, Scene, make_pod

STARTUP = {"exec": {"command": ["ok"]}, "periodSeconds": 1, "failureThreshold": 100}


def test_an_effect_shows_when_it_ends_and_not_before() -> None:
    class Slow(Workload):
        def takes_ns(self, pod: object, effect: object) -> int:
            return {RunSandbox: 1, CreateContainer: 2, StartContainer: 4}[type(effect)] * SECOND

    node = SimulatedNode(GivenResults(), RestartGate(), Slow())
    pod = node.add(make_pod({"name": "app"}))
    seen = []
    for seconds in (0, 1, 3, 6, 7):
        node.run_until(seconds * SECOND)
        snapshot = pod.runtime.snapshot
        seen.append((len(snapshot.sandboxes), [str(record.state) for record in snapshot.containers]))
    assert seen == [(0, []), (1, []), (1, ["created"]), (1, ["created"]), (1, ["running"])]


def test_a_call_that_fails_changes_nothing_and_is_tried_again() -> None:
    class Broken(Workload):
        failures = 2

        def error(self, pod: object, effect: object) -> str:
            if isinstance(effect, CreateContainer) and self.failures:
                self.failures -= 1
                return "no disk"
            return ""

    node = SimulatedNode(GivenResults(), RestartGate(), Broken())
    pod = node.add(make_pod({"name": "app"}))
    node.run_until(9 * SECOND)
    assert pod.runtime.snapshot.containers == ()
    assert pod.machine.statuses["app"].message == "no disk"
    node.run_until(10 * SECOND)
    assert [record.name for record in pod.runtime.snapshot.running()] == ["app"]


def test_a_pod_that_ends_stops_its_probes_and_leaves_no_delay() -> None:
    pod = make_pod({"name": "app", "readinessProbe": STARTUP})
    scene = Scene(pod, kill=4, runs={"app": 3})
    scene.run_until(4)
    assert (len(scene.gate.table), scene.simulation.workers()) == (1, [("web", "app", "readiness")])
    scene.pod.handle(Terminate())
    scene.run_until(4)
    assert scene.log[-1] == "4 kill app within 30"
    scene.run_until(8)
    assert (scene.pod.runtime.snapshot, scene.simulation.workers()) == (Snapshot(), [])
    assert scene.node.agenda.next_ns() is None
    assert scene.gate.entries(700 * SECOND) == 0


def test_a_deadline_that_the_machine_gave_up_never_comes() -> None:
    scene = Scene(make_pod({"name": "app"}))
    for _ in range(2):
        scene.run_until(1)
        scene.pod.exit(scene.pod.runtime.snapshot.running()[0].id, 1)
    scene.run_until(2)
    assert scene.pod.has_deadline
    scene.pod.handle(Release(("app",)))
    scene.run_until(2)
    assert scene.pod.runtime.snapshot.running()
    assert (scene.pod.has_deadline, scene.node.agenda.next_ns()) == (False, None)


def test_regular_containers_start_when_the_sidecar_before_them_has_started() -> None:
    sidecar = {"name": "proxy", "image": "i", "restartPolicy": "Always", "startupProbe": STARTUP}
    init = {"name": "setup", "image": "i"}
    pod = make_pod({"name": "app"}, initContainers=[sidecar, init])
    scene = Scene(pod, answers={"proxy/startup": "failure"}, runs={"setup": 2})
    scene.exit_code = lambda pod, name: 0  # type: ignore[method-assign]
    scene.run_until(20)
    assert scene.log == ["0 start proxy"]
    scene.answer("proxy/startup", "success")
    scene.run_until(40)
    assert scene.log == ["0 start proxy", "21 start setup", "23 start app"]


def test_results_that_are_given_are_seen_by_the_machine_and_nothing_is_probed() -> None:
    results = GivenResults()
    node = SimulatedNode(results, RestartGate(), Workload())
    pod = node.add(make_pod({"name": "app", "livenessProbe": STARTUP}))
    node.run_until(60 * SECOND)
    assert node.agenda.next_ns() is None
    (first,) = pod.runtime.snapshot.containers
    results.values["liveness", first.id] = "Failure"
    assert results.probe_state(pod.pod, pod.runtime.snapshot) == ProbeState(
        {("liveness", first.id): "Failure"}, frozenset({"app"})
    )
    pod.request_sync()
    node.run_until(60 * SECOND)
    newest, before = pod.runtime.snapshot.containers
    assert (newest.restart_count, before.state, before.exit_code) == (1, State.EXITED, 137)


def test_a_never_pod_whose_results_keep_asking_for_a_sync_is_synced_twenty_times_and_then_once_a_second() -> None:
    probe = {**STARTUP, "failureThreshold": 1}
    pod = make_pod({"name": "app", "livenessProbe": probe}, {"name": "other"}, restartPolicy="Never")
    scene = Scene(pod, runs={"app": 2})
    scene.run_until(3)
    before = scene.published
    scene.run_until(13)
    assert scene.published - before == 10


def test_pulls_and_images_are_the_workloads() -> None:
    assert Workload().image_present("i")
    assert Workload().pulled(PullImage("i", "s")).size == 0
