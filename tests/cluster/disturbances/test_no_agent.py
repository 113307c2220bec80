"""A node without an agent: a new instance of a container is not ready before it has answered once, nor is it when an
agent comes back and finds it."""

import signal
from collections.abc import Callable, Iterator
from itertools import groupby

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.disturbances.conftest import Absence
from tests.cluster.disturbances.pods import managed
from tests.cluster.fifteen.pods import service
from tests.cluster.installed import Installed
from tests.cluster.namespace import Namespace
from tests.cluster.record.recording import Recording
from tests.cluster.record.seen import ClusterSide, condition, moment
from tests.kubelet.beside.pods.make import Object, answers, container, pod
from tests.kubelet.beside.seen.instance import Instance, at
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

NATIVE, MADE, OWN = "native", "made", "own"
BAD_ANSWERS = 12
"""Each instance answers badly for so many seconds."""
ROW = f"500x{BAD_ANSWERS},200"
SEEN_SECONDS = 1.5
"""A kubelet looks for containers that have ended once a second, and writes the status after that."""


def all_pods() -> list[Object]:
    """A pod that keeps its probes; one whose readiness probe makes the startup probe; one that has a startup probe."""
    return [
        pod(NATIVE, container(readinessProbe=answers("r", ROW))),
        managed(pod(MADE, container(readinessProbe=answers("r", ROW), livenessProbe=answers("l", "200")))),
        managed(
            pod(
                OWN,
                container(startupProbe=answers("r", ROW, failureThreshold=1000), readinessProbe=answers("q", "200")),
            )
        ),
    ]


@pytest.fixture
def recording(cluster: Cluster, namespace: Namespace, absence: Absence) -> Iterator[Recording]:
    """Ready pods on a node that has lost its agent."""
    recording = Recording(namespace, cluster.folder / "scenes" / namespace.name, "disturbed")
    recording.begin()
    for one in all_pods():
        namespace.create(service(one["metadata"]["name"]), "services")
        namespace.create(one)
    for name in (NATIVE, MADE, OWN):
        namespace.until_ready(name)
    with absence:
        yield recording
        recording.end()


def crash(cluster: Cluster, namespace: Namespace) -> None:
    for one in cluster.runtime.running("app", namespace.name):
        cluster.runtime.ctr("tasks", "kill", "-s", "9", one)


def reboot(cluster: Cluster, namespace: Namespace) -> None:
    """Everything on the node ends, and its programs start anew; the namespaces of its pods are new too."""
    cluster.kubelet.stop(signal.SIGKILL)
    for one in cluster.runtime.ctr("tasks", "ls", "-q").split():
        cluster.runtime.ctr("tasks", "kill", "-s", "9", one)
    cluster.runtime.kill()
    cluster.runtime.run()
    cluster.kubelet.start()
    until(cluster.node_is_ready, "the node to be ready")


@pytest.mark.parametrize("disturb", [crash, reboot])
def test_a_new_instance_is_out_of_the_endpoints_until_it_has_answered_once(
    cluster: Cluster,
    namespace: Namespace,
    recording: Recording,
    disturb: Callable[[Cluster, Namespace], None],
) -> None:
    recording.mark("disturbed")
    disturb(cluster, namespace)
    for name in (NATIVE, MADE, OWN):
        namespace.until(lambda name=name: not namespace.is_ready(name), f"{name} to be unready")
    for name in (NATIVE, MADE, OWN):
        namespace.until_ready(name)
    recording.end()
    seen = ClusterSide(recording.out)
    for name in (NATIVE, MADE, OWN):
        new, good = answered(seen, name)
        early = [when for when in ready_from(seen, name) if new.started + SEEN_SECONDS < when < good]
        assert early == [], f"{name}: started {new.started}, answered at {good}"
        was_out = [when for when, state in states(seen, name) if not state.startswith("ready") and when < good]
        assert max(was_out) > seen.mark("disturbed"), f"{name} was never out"


def test_an_agent_that_comes_back_closes_the_gate_of_a_new_instance_before_it_asks(
    cluster: Cluster, probelet: Installed, namespace: Namespace, recording: Recording
) -> None:
    crash(cluster, namespace)
    namespace.until(lambda: not namespace.is_ready(MADE), "the pod to be unready")
    namespace.until_ready(MADE)
    before = gate_of(namespace.pod(MADE))
    assert before["status"] == "True", "as the last agent left it"
    recording.mark("back")
    probelet.choose_node(True)
    until(probelet.agent_is_ready, "the agent")
    # It may have been closed for less than a second.
    namespace.until(lambda: has_opened_again(namespace, before), "the gate to close, and to open again")
    recording.end()
    seen = ClusterSide(recording.out)
    assert gates(seen, MADE) == ["False", "True"]
    assert [one.attempt for one in seen.of(MADE)["app"]] == [0, 1]


def gate_of(thing: Object) -> Object:
    return condition(thing, "probelet.dev/ready")


def has_opened_again(namespace: Namespace, before: Object) -> bool:
    now = gate_of(namespace.pod(MADE))
    return bool(now["status"] == "True" and now["lastTransitionTime"] != before["lastTransitionTime"])


def gates(seen: ClusterSide, name: str) -> list[str]:
    """The values of the condition since the agent is back, without repetitions; the one before is not among them."""
    back = seen.mark("back")
    rows = [(moment(note), gate_of(note["object"]).get("status", "")) for note in seen.changes(name)]
    before = [status for when, status in rows if when <= back][-1]
    after = [status for when, status in rows if when > back]
    return [status for status, _ in groupby([before, *after])][1:]


def answered(seen: ClusterSide, name: str) -> tuple[Instance, float]:
    """The last instance of the container, and when it gave its first good answer."""
    new = seen.of(name)["app"][-1]
    notes = new.probes()["http r"]
    assert len(notes) > BAD_ANSWERS, "it has given a good answer"
    return new, at(notes[BAD_ANSWERS])


def states(seen: ClusterSide, name: str) -> list[tuple[float, str]]:
    return [(when, found.get(name, "absent")) for when, found in seen.endpoints(name)]


def ready_from(seen: ClusterSide, name: str) -> list[float]:
    return [when for when, state in states(seen, name) if state.startswith("ready")]
