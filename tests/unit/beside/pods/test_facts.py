"""The first status of a pod whose containers run already."""

import pytest
from probelet.beside.pods.facts import Known, begun
from probelet.policy.glue.status_layer import Begun
from probelet.policy.status.container_status import ContainerStatus

from tests.unit.agent.made_pod import EXEC, Probes, made_pod, probed_pod

ID = "c://1"
RUNS = ContainerStatus("app", "regular", ID, "running")
ALL = ("startupProbe", "readinessProbe", "livenessProbe")


@pytest.mark.parametrize(
    ("probes", "known", "expected"),
    [
        ((), {}, (True, True)),
        (("livenessProbe",), {}, (True, True)),
        (("readinessProbe",), {}, (True, False)),
        (("readinessProbe",), {("readiness", ID): "Failure"}, (True, False)),
        (("readinessProbe",), {("readiness", ID): "Success"}, (True, True)),
        (("readinessProbe",), {("readiness", "c://0"): "Success"}, (True, False)),
        (ALL, {}, (False, False)),
        (ALL, {("startup", ID): None}, (False, False)),
        (ALL, {("startup", ID): "Unknown", ("readiness", ID): "Success"}, (False, False)),
        # An agent that was killed while workers began leaves the memories of some.
        (ALL, {("readiness", ID): "Failure", ("liveness", ID): "Success"}, (False, False)),
        (ALL, {("readiness", ID): "Success", ("liveness", ID): "Success"}, (False, False)),
        (ALL, {("startup", ID): "Success"}, (True, False)),
        (ALL, {("startup", ID): "Success", ("readiness", ID): "Success"}, (True, True)),
    ],
)
def test_a_running_container_has_started_and_is_ready_by_the_results_that_are_known(
    probes: tuple[str, ...], known: Known, expected: tuple[bool, bool]
) -> None:
    pod = probed_pod(made_pod({"app": dict.fromkeys(probes, EXEC)}))
    assert begun(pod, {"app": RUNS}, known) == {"app": Begun(*expected)}


def test_a_container_that_does_not_run_has_not_started() -> None:
    probes: Probes = {"app": {"readinessProbe": EXEC}}
    done = ContainerStatus("setup", "init", "c://0", "terminated", exit_code=0)
    waiting = ContainerStatus("app", "regular")
    pod = probed_pod(made_pod(probes, initContainers=[{"name": "setup", "image": "i"}]))
    found = begun(pod, {"setup": done, "app": waiting}, {("readiness", "c://1"): "Success"})
    assert found == {"setup": Begun(started=False, ready=True), "app": Begun(started=False, ready=False)}
