"""A cluster with one pod and no load is a ``VirtualNode``: the same attempts, kills and restarts at the same times."""

from collections import defaultdict
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from probelet.testing import VirtualNode
from probelet.virtual.cluster import Deadlock, Exit, GcPause, Leak, Pause, SlowLeak, StartupSlow, VirtualCluster

PROBES = st.fixed_dictionaries(
    {
        "periodSeconds": st.integers(1, 20),
        "timeoutSeconds": st.integers(1, 5),
        "failureThreshold": st.integers(1, 4),
        "initialDelaySeconds": st.integers(0, 20),
        "httpGet": st.just({"path": "/", "port": 8080}),
    }
)
CONTAINERS = st.fixed_dictionaries(
    {"livenessProbe": PROBES}, optional={"readinessProbe": PROBES, "startupProbe": PROBES}
)
FAULTS = st.lists(
    st.one_of(
        st.integers(1, 400).map(lambda at: Deadlock("web/app", at=f"{at}s")),
        st.integers(1, 400).map(lambda at: Exit("web/app", at=f"{at}s")),
        st.integers(1, 200).map(lambda at: GcPause("web/app", "3s", "17s", at=f"{at}s", lasts="90s")),
        st.integers(1, 200).map(lambda at: SlowLeak("web/app", "60s", at=f"{at}s")),
        st.integers(1, 200).map(lambda at: StartupSlow("web/app", "12s", at=f"{at}s")),
    ),
    max_size=4,
)


def pod(container: dict[str, Any]) -> dict[str, Any]:
    spec = {"containers": [{"name": "app", "image": "i", **container}], "terminationGracePeriodSeconds": 5}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec}


@given(CONTAINERS, FAULTS, st.integers(0, 9_000))
@settings(deadline=None, max_examples=settings().max_examples // 2)
def test_a_virtual_node_with_the_same_answers_does_the_same(
    container: dict[str, Any], faults: list[Any], startup_ms: int
) -> None:
    cluster = VirtualCluster(pod(container), attempts=10_000)
    cluster.behave("web", startup=f"{startup_ms}ms", latency="40ms", stop="2s")
    # A container that ends by itself has no counterpart in a script: the node's is ended at the same moment.
    cluster.fault(*faults)
    cluster.run("10m")

    node = VirtualNode(pod(container))
    record = cluster.history.pods[0]
    for probe in record.probes:
        words = {"success": "success", "failure": "failure", "timeout": "failure"}
        answers = [f"{words[each.outcome]} {round(each.took * 1_000)}ms" for each in probe.attempts]
        if answers:
            node.answer(f"web/app/{probe.type}", *answers)
    for second in sorted({int(fault.at[:-1]) for fault in faults if isinstance(fault, Exit)}):
        node.run(f"{round(second * 1_000 - node.now * 1_000)}ms")
        node.crash("web/app")
    node.run(f"{round(600_000 - node.now * 1_000)}ms")

    made: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for attempt in node.attempts:
        made[attempt.worker].append((attempt.at, round(attempt.took, 3)))
    for probe in record.probes:
        # An attempt whose worker ended meanwhile ends in no record of the node.
        found, expected = made[f"web/app/{probe.type}"], [(each.at, each.took) for each in probe.attempts]
        assert found == expected[: len(found)]
        assert len(expected) - len(found) <= 1
    assert [(kill.at, kill.probe_type) for kill in node.kills] == [
        (kill.at, kill.probe_type) for kill in cluster.kills
    ], cluster.timeline()
    assert node.restarts("web/app") == cluster.restarts("web")
    assert node.ready("web") == bool(cluster.ready("web"))


def test_pauses_and_leaks_may_be_fields_of_a_behaviour_too() -> None:
    cluster = VirtualCluster(
        pod({"livenessProbe": {"httpGet": {"port": 8080}, "periodSeconds": 1, "failureThreshold": 1}})
    )
    cluster.behave("web", pause=Pause("3s", "1m"), leak=Leak(latency_per_hour="1h"))
    cluster.run("10m")
    reasons = {attempt.why for attempt in cluster.history.pods[0].probes[0].attempts}
    assert {"pause", "leak"} <= reasons
    assert cluster.restarts("web") >= 5
