"""Ready of a pod that goes, or has no agent, follows the kubelet's readiness probe, and not one that was taken over."""

import time

import pytest
from probelet.beside.takeover.names import KEEP_NATIVE_ANNOTATION

from tests.cluster.disturbances.conftest import Absence
from tests.cluster.disturbances.pods import managed
from tests.cluster.endpoints import ready_endpoints
from tests.cluster.fifteen.pods import service
from tests.cluster.installed import Installed, taken_probes
from tests.cluster.namespace import Namespace
from tests.cluster.record.recording import Recording
from tests.cluster.record.seen import ClusterSide
from tests.kubelet.beside.pods.make import Object, answers, container, http_get, pod

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]

ROOT, PORT = "/tmp/www", 8081
"""A second server of the container has this folder there; while it has the file, the container is ready."""
HOOK_SECONDS, GRACE_SECONDS = 8, 20
LONG_SECONDS = 30.0
SOON_SECONDS = 5.0
"""A period and two writes, on a busy machine; less than the hook takes."""
NATIVE, KEPT, TAKEN = "native", "kept", "taken"


def goes(name: str) -> Object:
    """A pod that is not ready from the beginning of its preStop hook on, and has seconds to live then."""
    app = container(
        readinessProbe=http_get("/ready", PORT, failureThreshold=1),
        livenessProbe=answers("l", "200"),
        lifecycle={
            "postStart": shell(f"mkdir {ROOT} && touch {ROOT}/ready && httpd -p {PORT} -h {ROOT}"),
            "preStop": shell(f"rm {ROOT}/ready; sleep {HOOK_SECONDS}"),
        },
    )
    return pod(name, app, terminationGracePeriodSeconds=GRACE_SECONDS)


def shell(script: str) -> Object:
    return {"exec": {"command": ["sh", "-c", script]}}


def kept() -> Object:
    thing = managed(goes(KEPT))
    thing["metadata"]["annotations"] = {KEEP_NATIVE_ANNOTATION: "readiness"}
    return thing


def test_serving_ends_with_a_readiness_probe_that_the_kubelet_keeps_and_with_the_container_without_one(
    probelet: Installed, namespace: Namespace, recording: Recording
) -> None:
    moved = {}
    for thing in (goes(NATIVE), kept(), managed(goes(TAKEN))):
        name = thing["metadata"]["name"]
        namespace.create(service(name), "services")
        moved[name] = {kind for kinds in taken_probes(namespace.create(thing)).values() for kind in kinds}
    assert moved == {NATIVE: set(), KEPT: {"livenessProbe"}, TAKEN: {"livenessProbe", "readinessProbe"}}
    for name in moved:
        namespace.until_ready(name)
        namespace.until(lambda: ready_endpoints(namespace, name) == {name}, f"the endpoint of {name}")  # noqa: B023
    for name in moved:
        recording.mark(name)
        namespace.cluster.api.delete(namespace.path("pods", name))
    namespace.until_empty()
    recording.end()
    seen = ClusterSide(recording.out)
    serving = {name: until_not_serving(seen, name) for name in moved}
    assert serving[NATIVE] < SOON_SECONDS
    assert serving[KEPT] < SOON_SECONDS
    assert serving[TAKEN] > HOOK_SECONDS - 1, "docs/cluster/readiness.md says why; a kubelet that does better is news"


def test_without_an_agent_a_container_that_stops_to_be_ready_stays_in_the_endpoints(
    probelet: Installed, namespace: Namespace, absence: Absence
) -> None:
    for thing in (goes(NATIVE), managed(goes(TAKEN))):
        name = thing["metadata"]["name"]
        namespace.create(service(name), "services")
        namespace.create(thing)
        namespace.until(lambda: ready_endpoints(namespace, name) == {name}, f"the endpoint of {name}")  # noqa: B023
    with absence:
        for name in (NATIVE, TAKEN):
            namespace.cluster.kubectl("exec", "-n", namespace.name, name, "--", "rm", f"{ROOT}/ready")
        namespace.until(lambda: not ready_endpoints(namespace, NATIVE), "the native one to leave")
        time.sleep(LONG_SECONDS)
        assert ready_endpoints(namespace, TAKEN) == {TAKEN}
    namespace.until(lambda: not ready_endpoints(namespace, TAKEN), "the one that was taken over to leave")


def until_not_serving(seen: ClusterSide, name: str) -> float:
    """Seconds from the delete to an endpoint that is not serving, or to none."""
    states = [(at, state.get(name, "gone")) for at, state in seen.endpoints(name)]
    deleted = seen.marks[name] / 1e9
    return next(float(at - deleted) for at, state in states if at > deleted and "serving" not in state)
