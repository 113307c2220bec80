"""A taken-over pod goes: in the middle of a kill, by an eviction, and not at all while a budget forbids it."""

import pytest

from tests.cluster.control_plane.api import ApiError
from tests.cluster.disturbances.pods import managed, steady
from tests.cluster.installed import Installed
from tests.cluster.namespace import Namespace
from tests.cluster.record.recording import Recording
from tests.cluster.record.seen import ClusterSide
from tests.kubelet.beside.pods.make import answers, command, container, pod
from tests.kubelet.beside.seen.instance import Instance
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]

LONG_HOOK_SECONDS, GRACE_SECONDS = 6, 20
TOO_MANY_REQUESTS = 429


def test_a_pod_that_is_deleted_in_the_middle_of_a_kill_ends_by_the_kubelets_hand(
    probelet: Installed, namespace: Namespace, recording: Recording
) -> None:
    app = container(
        "--term",
        "300",
        livenessProbe=answers("l", "200x3,500", failureThreshold=1),
        lifecycle={"preStop": command("hook", f"0@{LONG_HOOK_SECONDS * 1000}")},
    )
    namespace.create(managed(pod("killed", app, terminationGracePeriodSeconds=GRACE_SECONDS)))
    until(probelet.intents, "a kill to begin")
    namespace.cluster.api.delete(namespace.path("pods", "killed"))
    until(lambda: not namespace.pods(), "the pod to go")
    until(lambda: not probelet.intents(), "the intent to go")
    recording.end()
    one = _only(recording, "killed")
    assert one.exit_code == 0
    assert [note["signal"] for note in one.notes if note["what"] == "signal"] == ["terminated"]
    # The kubelet runs the hook again: a row of docs/cluster/agent.md.
    assert 1 <= sum(note["what"] == "exec" for note in one.notes) <= 2


def test_an_evicted_pod_is_probed_for_readiness_until_its_end_and_not_killed_for_liveness(
    namespace: Namespace, recording: Recording
) -> None:
    app = container(
        "--term",
        "5000",
        livenessProbe=answers("l", "200x4,500", failureThreshold=2),
        readinessProbe=answers("r", "200"),
    )
    namespace.create(managed(pod("evicted", app, terminationGracePeriodSeconds=GRACE_SECONDS)))
    namespace.until_ready("evicted")
    recording.mark("evicted")
    _evict(namespace, "evicted")
    until(lambda: not namespace.pods(), "the pod to go")
    recording.end()
    one = _only(recording, "evicted")
    first = next(note for note in one.notes if note["what"] == "signal")
    after = [note for note in one.notes if note["at"] > first["at"] and note["what"] == "http"]
    assert {note["name"] for note in after} == {"r"}
    assert one.exit_code == 0
    assert "Killing" not in {event["reason"] for event in namespace.events("evicted") if _is_ours(event)}


def test_a_disruption_budget_counts_a_pod_that_our_readiness_gate_keeps_unready(namespace: Namespace) -> None:
    namespace.create(steady("good"))
    namespace.create(managed(pod("bad", container(readinessProbe=answers("r", "500")))))
    selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["good", "bad"]}]}
    budget = {"minAvailable": 1, "selector": selector}
    namespace.create({"metadata": {"name": "budget"}, "spec": budget}, "policy/v1/poddisruptionbudgets")
    namespace.until_ready("good")
    path = namespace.path("policy/v1/poddisruptionbudgets", "budget")
    namespace.until(lambda: namespace.cluster.api.get(path).get("status", {}).get("currentHealthy") == 1, "the budget")
    with pytest.raises(ApiError) as refused:
        _evict(namespace, "good")
    assert refused.value.code == TOO_MANY_REQUESTS


def _evict(namespace: Namespace, name: str) -> None:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace.name}}
    namespace.cluster.api.create(f"{namespace.path('pods', name)}/eviction", eviction)


def _only(recording: Recording, name: str) -> Instance:
    """The one instance that there ever was of the pod's container."""
    (one,) = ClusterSide(recording.out).of(name)["app"]
    return one


def _is_ours(event: dict[str, object]) -> bool:
    return event.get("reportingComponent") == "probelet-agent"
