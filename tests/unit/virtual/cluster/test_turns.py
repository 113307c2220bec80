"""The turns of probes in a cluster in virtual time, as a detector of incidents gets them from a live engine."""

from probelet.policy.incidents.turn import Turn
from probelet.virtual.cluster import Deadlock, VirtualCluster

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {
        "containers": [
            {
                "name": "app",
                "image": "i",
                "readinessProbe": {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 5, "timeoutSeconds": 1},
                "livenessProbe": {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 5, "timeoutSeconds": 1},
            }
        ],
        "terminationGracePeriodSeconds": 1,
    },
}


def test_a_probe_turns_when_its_container_stops_to_answer_and_when_it_answers_again() -> None:
    cluster = VirtualCluster(POD)
    cluster.behave("web", startup="0s", latency="40ms", stop="0s")
    cluster.fault(Deadlock("web/app", at="60s"))
    turns: list[Turn] = []
    for node in cluster._state.node_by_name.values():
        node._prober.watch_turns(turns.append)
    cluster.run("3m")
    after = [turn for turn in turns if turn.at_ms > 60_000]
    for probe_type in ("liveness", "readiness"):
        bad, second, *others = [turn for turn in after if turn.probe_type == probe_type]
        good = next(turn for turn in others if turn.is_good)
        assert not second.is_good, "of a row the first ten, as from a live engine"
        assert (bad.is_good, bad.cause, bad.container) == (False, "header_timeout", "app")
        assert bad.message.endswith("(Client.Timeout exceeded while awaiting headers)")
        assert (good.is_good, good.cause, good.message) == (True, "ok", "")
        assert 60_000 < bad.at_ms < 67_000
        assert bad.at_ms < good.at_ms
    assert {turn.pod_uid for turn in turns} == {pod.uid for pod in cluster._state.pods.values()}
