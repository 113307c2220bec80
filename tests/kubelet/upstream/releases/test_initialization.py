"""``initializationFailureThreshold`` (KEP-950), rows I1 to I9: which run makes a container fail."""

import pytest

from tests.kubelet.upstream.manager import Manager, container, running
from tests.kubelet.upstream.row import row
from tests.kubelet.upstream.worker import OTHER_ID, Worker


def verdict(answers: str, *, initial: int, threshold: int = 3) -> int | None:
    """The number of the liveness run that makes the container fail. ``answers``: S, F, or E for a prober error."""
    worker = Worker("liveness", probe={"failureThreshold": threshold, "initializationFailureThreshold": initial})
    worker.status()
    words = {"S": "success", "F": "failure", "E": "error"}
    for run, answer in enumerate(answers, start=1):
        if worker.after(words[answer]) == ["Failure"]:
            return run
    return None


@pytest.mark.parametrize(
    ("answers", "initial", "run"),
    [
        pytest.param("F" * 30, 20, 20, id="I1-never succeeds"),
        pytest.param("F" * 10 + "S" * 5 + "F" * 9, 20, 18, id="I2-later on the usual threshold"),
        pytest.param("F" * 10 + "S" + "F" * 9, 20, 14, id="I3-also within the first allowance"),
        pytest.param("FFFF", 2, 3, id="I4-a smaller one is raised"),
        pytest.param("F" * 20, 20, 20, id="I5-all of it after a restart of the prober"),
        pytest.param("FFEEFF", 4, 6, id="I9-prober errors do not count"),
    ],
)
def test_a_container_fails_at_the_run_that_uses_up_its_allowance(answers: str, initial: int, run: int) -> None:
    assert verdict(answers, initial=initial) == run


@row("I6")
def test_a_new_container_has_the_allowance_again(row: str) -> None:
    worker = Worker("liveness", probe={"failureThreshold": 1, "initializationFailureThreshold": 3})
    worker.status()
    assert worker.after("success", "failure") == ["Success", "Failure"]
    worker.status(container_id=OTHER_ID)
    worker.handler("failure")
    cached = []
    for _ in range(3):
        worker.do_probe()
        cached.append(worker.simulation.result("liveness", OTHER_ID))
    assert cached == ["Success", "Success", "Failure"]


@row("I8")
def test_the_liveness_allowance_begins_after_the_startup_allowance(row: str) -> None:
    manager = Manager(glue="kubelet")
    probed = container("main", "startup", "liveness")
    probed["startupProbe"] |= {"failureThreshold": 1, "initializationFailureThreshold": 3}
    probed["livenessProbe"] |= {"failureThreshold": 1, "initializationFailureThreshold": 4}
    manager.define("pod", [probed])
    manager.answer("pod/main/startup", "failure*2", "success")
    manager.answer("pod/main/liveness", "failure")
    manager.sync("pod")
    manager.sync("pod", running("main"))
    manager.run(20)
    order = [worker.rpartition("/")[2] for _, worker in manager.attempts]
    assert order == ["startup"] * 3 + ["liveness"] * 4
