"""What an agent found out about one container is never held against the next."""

import time

import pytest

from tests.cluster.disturbances.pods import managed
from tests.cluster.namespace import Namespace
from tests.kubelet.beside.pods.make import answers, container, pod
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]

ANSWER_SECONDS = 5
WATCHED_SECONDS = 15.0
HOOK_SECONDS = 20


@pytest.mark.usefixtures("probelet")
def test_a_probe_in_flight_does_not_kill_the_container_that_came_meanwhile(namespace: Namespace) -> None:
    slow = answers("l", f"200x3,200@{ANSWER_SECONDS * 1000}", failureThreshold=1, timeoutSeconds=10)
    namespace.create(managed(pod("replaced", container(livenessProbe=slow))))
    namespace.until_ready("replaced")
    runtime = namespace.cluster.runtime
    (first,) = runtime.running("app", namespace.name)
    # The fourth answer is under way now, and its connection breaks with its container.
    time.sleep(ANSWER_SECONDS + 1)
    runtime.ctr("tasks", "kill", "-s", "9", first)
    until(lambda: set(runtime.running("app", namespace.name)) - {first}, "the kubelet's new container")
    second = runtime.running("app", namespace.name)
    time.sleep(WATCHED_SECONDS)
    assert runtime.running("app", namespace.name) == second
    assert namespace.pod("replaced")["status"]["containerStatuses"][0]["restartCount"] == 1


@pytest.mark.usefixtures("probelet")
def test_liveness_waits_for_the_end_of_a_hook_of_20_seconds(namespace: Namespace) -> None:
    hook = {"exec": {"command": ["sh", "-c", f"sleep {HOOK_SECONDS}; touch /tmp/hook-has-ended"]}}
    liveness = {"exec": {"command": ["test", "-f", "/tmp/hook-has-ended"]}, "periodSeconds": 1, "failureThreshold": 1}
    app = container(lifecycle={"postStart": hook}, livenessProbe=liveness, readinessProbe=answers("r", "200"))
    namespace.create(managed(pod("hooked", app)))
    namespace.until_ready("hooked")
    time.sleep(WATCHED_SECONDS)
    status = namespace.pod("hooked")["status"]["containerStatuses"][0]
    assert (status["restartCount"], status["ready"]) == (0, True)
    assert namespace.is_ready("hooked")
