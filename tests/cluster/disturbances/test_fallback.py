"""The fallback for liveness: the kubelet restarts a container that hangs while no agent lives, and an agent that lives
has restarted it long before."""

import pytest
from probelet.beside.takeover.names import FALLBACK_ANNOTATION, PROBES_ANNOTATION

from tests.cluster.disturbances.conftest import Absence
from tests.cluster.disturbances.pods import managed
from tests.cluster.installed import Installed
from tests.cluster.namespace import Namespace
from tests.cluster.record.recording import Recording
from tests.cluster.record.seen import ClusterSide
from tests.kubelet.beside.pods.make import Object, answers, container, pod
from tests.kubelet.beside.seen.instance import Instance, at
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

FALLBACK, WITHOUT = "fallback", "without"
FALLBACK_SECONDS = 60
"""The shortest that there is."""
GOOD_ANSWERS = 3
FAILURE_THRESHOLD = 2


def hangs(name: str, **annotations: str) -> Object:
    """A pod whose container soon answers badly, in each of its lives."""
    row = f"200x{GOOD_ANSWERS},500"
    app = container(livenessProbe=answers("l", row, failureThreshold=FAILURE_THRESHOLD))
    thing = managed(pod(name, app, terminationGracePeriodSeconds=2))
    thing["metadata"]["annotations"] = annotations
    return thing


def with_fallback() -> Object:
    return hangs(FALLBACK, **{FALLBACK_ANNOTATION: f"{FALLBACK_SECONDS}s"})


def test_without_an_agent_the_kubelet_restarts_a_container_after_the_fallbacks_time(
    probelet: Installed, namespace: Namespace, recording: Recording, absence: Absence
) -> None:
    with absence:
        # A test before this one may have restarted the kubelet.
        until(probelet.webhook_is_ready, "the webhook")
        run(namespace, with_fallback(), hangs(WITHOUT))
        namespace.until(lambda: restarts(namespace, FALLBACK) == 1, "the kubelet's restart", FALLBACK_SECONDS * 2.5)
        recording.end()
        assert killers(namespace, FALLBACK) == {"kubelet"}
    seen = ClusterSide(recording.out)
    first, _ = seen.of(FALLBACK)["app"]
    assert first.finished - first_bad_answer(first) >= FALLBACK_SECONDS - 2, "the whole of the time has passed"
    assert first.exit_code == 0, "it had its grace"
    assert [one.finished for one in seen.of(WITHOUT)["app"]] == [0], "nobody restarts a pod without a fallback"


def test_an_agent_that_lives_kills_long_before(probelet: Installed, namespace: Namespace, recording: Recording) -> None:
    until(probelet.is_ready, "the agent and the webhook")
    run(namespace, with_fallback())
    namespace.until(lambda: restarts(namespace, FALLBACK) >= 2, "two kills by the agent")
    recording.end()
    ended = [one for one in ClusterSide(recording.out).of(FALLBACK)["app"] if one.finished]
    assert len(ended) >= 2
    assert all(one.finished - first_bad_answer(one) < FALLBACK_SECONDS / 2 for one in ended)
    assert killers(namespace, FALLBACK) == {"probelet-agent"}


def run(namespace: Namespace, *things: Object) -> None:
    for thing in things:
        made = namespace.create(thing)
        assert PROBES_ANNOTATION in made["metadata"]["annotations"], "the webhook has answered"
    for thing in things:
        namespace.until_ready(thing["metadata"]["name"])


def restarts(namespace: Namespace, name: str) -> int:
    statuses = namespace.pod(name)["status"].get("containerStatuses") or [{}]
    return int(statuses[0].get("restartCount", 0))


def first_bad_answer(one: Instance) -> float:
    return at(one.probes()["http l"][GOOD_ANSWERS])


def killers(namespace: Namespace, name: str) -> set[str]:
    """Who says that a container failed its liveness probe and will be restarted."""
    events = [one for one in namespace.events(name) if one["reason"] == "Killing"]
    return {one["source"].get("component") or one["reportingComponent"] for one in events}
