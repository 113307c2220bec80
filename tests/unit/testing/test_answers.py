"""An answer means what its words say, or is refused with what was meant; an argument of a wrong type is a TypeError."""

from typing import Any

import pytest
from probelet import VirtualCluster
from probelet.testing import AnswerError, ManifestError, VirtualNode

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: app
    livenessProbe: {httpGet: {port: 8080}, periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3}
"""
LIVENESS = "web/app/liveness"


def first(answer: str) -> tuple[str, float]:
    """The outcome of the first attempt, and how long it took."""
    node = VirtualNode(POD)
    node.answer(LIVENESS, answer, "success")
    node.run("9s")
    return node.attempts[0].outcome, round(node.attempts[0].took, 3)


@pytest.mark.parametrize(
    ("answer", "outcome", "took"),
    [
        ("hang", "timeout", 1.0),
        ("hang * 2", "timeout", 1.0),
        ("timeout", "timeout", 1.0),
        ("hang 3s", "timeout", 1.0),
        ("hang 900ms", "success", 0.9),
        ("success 900ms", "success", 0.9),
        ("success 999ms", "success", 0.999),
        ("success 1s", "timeout", 1.0),
        ("success 1100ms", "timeout", 1.0),
        ("failure 900ms: no disk", "failure", 0.9),
        ("failure 1100ms: no disk", "timeout", 1.0),
        # The prober itself could not ask: no server, so no timeout of a server.
        ("error 1100ms", "error", 1.1),
    ],
)
def test_the_time_of_an_answer_decides_whether_it_comes_in_time(answer: str, outcome: str, took: float) -> None:
    assert first(answer) == (outcome, took)


@pytest.mark.parametrize("latency", ["900ms", "1s", "1100ms"])
def test_a_cluster_with_that_latency_sees_the_same_as_a_script(latency: str) -> None:
    cluster = VirtualCluster(POD)
    cluster.behave("web/app", latency=latency)
    cluster.run("9s")
    (probe,) = cluster.history.pods[0].probes
    assert (probe.attempts[0].outcome == "timeout") is (first(f"success {latency}")[0] == "timeout")


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ("failure * 0", "an answer is given at least once"),
        ("failure * 99999999999999999999999", "the last answer of a script repeats for ever"),
        ("timeout 3s", "takes the probe's timeoutSeconds; `hang 3s` answers after that time"),
        ("timeout: no disk", "a text is that of a failure"),
        ("hang: no disk", "a text is that of a failure"),
        ("success -1s", "must not be negative"),
        ("success 5", "missing unit in duration"),
        ("success 5 s", "must be success, failure, error, timeout or hang"),
        ("", "must be success, failure, error, timeout or hang"),
        ("Success", "must be success, failure, error, timeout or hang"),
    ],
)
def test_an_answer_that_contradicts_itself_says_what_was_meant(answer: str, meant: str) -> None:
    with pytest.raises(AnswerError, match=meant):
        VirtualNode(POD).answer(LIVENESS, answer)


def test_a_script_has_an_answer_and_time_goes_forward() -> None:
    node = VirtualNode(POD)
    with pytest.raises(AnswerError, match="at least one answer"):
        node.answer(LIVENESS)
    with pytest.raises(AnswerError, match="duration: '-5m': must not be negative"):
        node.run("-5m")
    with pytest.raises(AnswerError, match="exit_code: 256: must be from 0 to 255"):
        node.crash("web/app", 256)
    assert node.now == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"strict": "no"}, "strict: 'no': must be True or False"),
        ({"replicas": 3}, "replicas: 3: must be True or False, such as True for as many"),
        ({"seed": "1"}, "seed: '1': must be a whole number"),
        ({"seed": True}, "seed: True: must be a whole number"),
        ({"kill": 2}, 'kill: 2: must be a text, such as "1m30s"'),
        ({"restart": 5}, "restart: 5: must be a text"),
        ({"kubelet_version": 1.36}, "kubelet_version: 1.36: must be a text"),
    ],
)
def test_an_argument_of_a_wrong_type_is_a_type_error(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError) as found:
        VirtualNode(POD, **arguments)
    assert str(found.value).startswith(message)


@pytest.mark.parametrize("source", [5, None, b"kind: Pod", [POD, 5]])
def test_what_is_no_manifest_is_a_type_error(source: Any) -> None:
    with pytest.raises(TypeError, match="must be a path, a text, an object, or several of these"):
        VirtualNode(source)


def test_an_empty_text_is_no_manifest() -> None:
    for source in ("", "  \n"):
        with pytest.raises(ManifestError, match="is empty; give a path, or a text with a manifest"):
            VirtualNode(source)
    with pytest.raises(ManifestError, match="no pod in the manifests"):
        VirtualNode()


def test_the_calls_of_a_node_and_a_cluster_refuse_wrong_types() -> None:
    node: Any = VirtualNode(POD)
    cluster: Any = VirtualCluster(POD)
    for call in (
        lambda: node.answer(LIVENESS, 5),
        lambda: node.answer(5, "success"),
        lambda: node.run(60),
        lambda: node.crash("web/app", "1"),
        lambda: node.restarts(None),
        lambda: node.timeline("all"),
        lambda: cluster.run(60),
        lambda: cluster.traffic("web", 1, timeout=5),
        lambda: cluster.fault("deadlock"),
        lambda: VirtualCluster(POD, nodes="2"),
        lambda: VirtualCluster(POD, strict="no"),
    ):
        with pytest.raises(TypeError):
            call()  # type: ignore[no-untyped-call]
